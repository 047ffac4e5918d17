"""Words that a command cannot take, told in one line: what is wrong, and what to write.

The parser knows each case but draws a box around developers' terms; here people are spoken to as everywhere.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from enum import Enum
from inspect import Parameter, signature
from typing import Any, Literal, get_args, get_origin

from cyclopts import (
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnusedCliTokensError,
    ValidationError,
)
from cyclopts.argument import Argument

from cadenza.core.suggest import did_you_mean

KINDS: dict[Any, str] = {
    int: "no whole number",
    float: "no number",
    datetime: "no time: write 2030-03-01T09:00, with +01:00 or Z behind it where a zone is meant",
    timedelta: "no span of time: write 90s, 15m or 1h30m",
}


def describe_usage_error(error: CycloptsError) -> str:
    """Say in one line what is wrong with the words of a command."""
    error.verbose = False  # else it begins with where the function is defined
    command = " ".join(("cadenza", *(error.command_chain or ())))
    if isinstance(error, MissingArgumentError) and error.argument and error.keyword is None:
        wanted = " ".join((command, *_needed(error.target)))
        return f"{error.argument.name} is missing: write {wanted}"
    return f"{_fault(error)} (`{command} --help` says what it takes)"


def _fault(error: CycloptsError) -> str:
    match error:
        case MissingArgumentError(keyword=option):
            return f"{option} wants something behind it"
        case UnusedCliTokensError(unused_tokens=words):
            return f"too many words: {' '.join(words or ())}"
        case UnknownCommandError():
            said = str(error)
            # With a guess, the list of all is noise.
            return said.partition(" Available commands:")[0] if "Did you mean" in said else said
        case ValidationError(argument=Argument() as argument):
            return f"{_named(argument)}: {error.exception_message}"
        case CoercionError(argument=Argument() as argument, token=token) if token is not None:
            message = _why_not(token.value, error.target_type)
            return (
                str(error)
                if message is None
                else f"{_named(argument)}: {token.value!r} is {message}"
            )
        case _:
            return str(error)


def _why_not(word: str, wanted: Any) -> str | None:
    if wanted in KINDS:
        return KINDS[wanted]
    if get_origin(wanted) is Literal:
        known = [str(each) for each in get_args(wanted)]
    elif isinstance(wanted, type) and issubclass(wanted, Enum):
        known = [name.lower().replace("_", "-") for name in wanted.__members__]
    else:
        return None
    return f"none of {', '.join(known)}.{did_you_mean(word, known)}"


def _named(argument: Argument) -> str:
    """Name it as it was written: the option, or the word in the usage."""
    said = (token.keyword for token in argument.tokens if token.keyword)
    return next(said, argument.name)


def _needed(command: Callable[..., Any] | None) -> Iterator[str]:
    """Write the words that a command cannot do without."""
    for name, each in signature(command).parameters.items() if command is not None else ():
        if each.default is not Parameter.empty or each.kind is Parameter.VAR_POSITIONAL:
            continue
        word = name.strip("_").upper()
        option = f"--{name.strip('_').replace('_', '-')}"
        if each.kind is Parameter.POSITIONAL_ONLY:
            yield word
        else:
            yield (
                option
                if bool in (each.annotation, *get_args(each.annotation))
                else f"{option} {word}"
            )
