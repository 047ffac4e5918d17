"""Routes that perform one act on one thing (an account's queue, a post): each is a declaration.

    @on_queue.act("/pause", done=Paused, shows=PausedView)
    def pause_queue(context: ActionContext, body: PauseInput) -> Paused | Refused:
        '''Let nothing of the account be sent from now on.'''
        return pause(context.tx, context.now, **context.about, reason=body.reason, until=body.until)

`ActionRoutes` says once for all of them which path, scope and locks they have and how an operation's refusals become
problems. The function calls its operation and no more: the write with its dry run and idempotency key, the refusal
of every answer but `done`, the budget it spends and the answer are made here, as is the signature that the
framework reads. Limit: one operation under locks that the thing names; other routes are written out.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from inspect import Parameter, Signature, get_annotations
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel

from cadenza.api.request_context import WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Id
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

Performer = TypeVar("Performer", bound=Callable[..., Any])
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class ActionContext:
    """One act under way: its transaction, and what it is about."""

    act: WriteContext
    tx: Tx
    now: datetime
    about: dict[str, Any]  # as operations take it: workspace_id, by, and the thing's own id
    subject: Any = None  # the thing before the act, where `On.meet` looks at it


def _later(_act: WriteContext, _tx: Tx, _now: datetime, _id: str) -> None:
    """Most things are looked at by their operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRoutes:
    """What all acts on one kind of thing share."""

    routes: Resource
    path: str
    id: str  # the thing's name in the path, such as `account_id`
    scope: str
    refuse: Callable[[Any], NoReturn]
    show: Callable[[ActionContext, type[Any], Any], BaseModel]
    locks: Callable[[WriteContext, str], Awaitable[Sequence[str]]]  # of the thing
    # Refuses a thing that the caller may not see:
    load_subject: Callable[[WriteContext, Tx, datetime, str], object] = _later

    def act(
        self,
        path: str,
        *,
        done: type[Answer],
        shows: type[BaseModel],
        scope: str | None = None,
        spends: Callable[[Answer], int] | None = None,
        show: Callable[[ActionContext, type[Any], Any], BaseModel] | None = None,
        method: str = "POST",
    ) -> Callable[[Performer], Performer]:
        """Declare an act: what its operation answers when it is `done`, and how that is shown."""
        tell = show or self.show

        def declare(perform: Performer) -> Performer:
            async def endpoint(act: WriteContext, *, workspace_id: str, **given: Any) -> BaseModel:
                thing = given.pop(self.id)

                def operation(tx: Tx, now: datetime) -> BaseModel:
                    about = {"workspace_id": workspace_id, self.id: thing, "by": act.by}
                    context = ActionContext(
                        act, tx, now, about, self.load_subject(act, tx, now, thing)
                    )
                    answer = perform(context, **given)
                    if not isinstance(answer, done):
                        self.refuse(answer)
                    if spends is not None:
                        act.spend(tx, now, spends(answer))
                    return tell(context, shows, answer)

                return await act.write(operation, locks=await self.locks(act, thing))

            endpoint.__name__, endpoint.__doc__ = perform.__name__, perform.__doc__
            endpoint.__signature__ = self._signature(perform, shows)
            route = self.routes.route(
                method, self.path + path, needs=Role.EDITOR, scope=scope or self.scope
            )
            route(endpoint)
            return perform

        return declare

    def _signature(self, perform: Callable[..., Any], shows: type[BaseModel]) -> Signature:
        """Write what the framework reads: who asks, the ids of the path, the body if there is one."""
        said = get_annotations(perform, eval_str=True)
        requested = {name: kind for name, kind in said.items() if name not in ("context", "return")}
        kinds = {"act": Writer, "workspace_id": Id, self.id: Id} | requested
        named = [
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind) for name, kind in kinds.items()
        ]
        return Signature(named, return_annotation=shows)
