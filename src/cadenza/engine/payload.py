"""A job's arguments: checked against the handler's signature, on the way in and on the way out.

The signature becomes a msgspec struct once, when the task is declared; a payload is then encoded,
decoded by that struct, and refused with the path of what does not fit.
"""

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from cadenza.core.suggest import closest
from cadenza.engine.encode import to_json
from cadenza.engine.errors import InvalidJob
from cadenza.engine.running import Running


@dataclass(frozen=True, slots=True)
class Signature:
    """How a handler wants its arguments, and by what name it wants the running job."""

    task: str
    fields: tuple[str, ...]
    required: frozenset[str]
    open_ended: bool  # the handler takes **anything
    wants_job: str | None
    decode: Callable[[str | bytes], Any]

    def encode(self, payload: Mapping[str, object]) -> str:
        """Return the payload as JSON text, or refuse it with what is wrong."""
        text = to_json(payload, what=f"the payload of task {self.task!r}")
        try:
            self.decode(text)
        except msgspec.ValidationError as error:
            self._check_names(payload)  # says it in the caller's words, where names are the matter
            message = f"the payload of task {self.task!r} does not fit its signature: {error}"
            raise InvalidJob(message) from error
        return text

    def arguments(self, text: str) -> dict[str, Any]:
        """Return the keyword arguments that a stored payload holds."""
        decoded = self.decode(text)
        if self.open_ended:
            return decoded
        return {name: getattr(decoded, name) for name in self.fields}

    def _check_names(self, payload: Mapping[str, object]) -> None:
        if self.open_ended:
            return
        for name in payload:
            if name not in self.fields:
                near = closest(name, self.fields)
                hint = (
                    f"did you mean {near!r}?"
                    if near
                    else f"it takes: {', '.join(self.fields) or 'none'}"
                )
                message = f"task {self.task!r} takes no argument {name!r}; {hint}"
                raise InvalidJob(message)
        missing = self.required.difference(payload)
        if missing:
            message = f"task {self.task!r} needs {', '.join(sorted(missing))}"
            raise InvalidJob(message)


def read_signature(task: str, handler: Callable[..., object]) -> Signature:
    """Read what a handler takes; annotations are the schema, the `Running` parameter is the job itself."""
    if inspect.isgeneratorfunction(handler) or inspect.isasyncgenfunction(handler):
        message = f"task {task!r} is a generator, which nobody would step through: use a function"
        raise InvalidJob(message)
    hints = typing.get_type_hints(handler, include_extras=True)
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    wants_job: str | None = None
    open_ended = False
    for name, parameter in inspect.signature(handler).parameters.items():
        kind = hints.get(name, Any)
        if kind is Running:
            wants_job = name
        elif parameter.kind is parameter.VAR_KEYWORD:
            open_ended = True
        elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            message = f"task {task!r}: parameter {name!r} must be one that can be given by name"
            raise InvalidJob(message)
        elif parameter.default is parameter.empty:
            fields.append((name, kind))
        else:
            fields.append((name, kind, msgspec.field(default_factory=_constant(parameter.default))))
    names = tuple(field[0] for field in fields)
    schema: Any = dict[str, Any]
    if not open_ended:
        schema = msgspec.defstruct("Payload", fields, forbid_unknown_fields=True, kw_only=True)
    return Signature(
        task=task,
        fields=names,
        required=frozenset(field[0] for field in fields if len(field) == 2),
        open_ended=open_ended,
        wants_job=wants_job,
        decode=_decoder(task, schema),
    )


def _decoder(task: str, schema: Any) -> Callable[[str | bytes], Any]:
    try:
        return msgspec.json.Decoder(schema).decode
    except TypeError as error:
        message = f"task {task!r}: a parameter's type cannot come from JSON: {error}"
        raise InvalidJob(message) from error


def _constant(value: object) -> Callable[[], object]:
    return lambda: value
