"""A span of OpenTelemetry for every run of a job, in the trace of whoever enqueued it.

`trace(engine)` wraps the engine's runs; needs the extra `otel`. A job takes the enqueuer's trace along
(W3C `traceparent`) and its runs are children of that span, retries too. A handler's decision (snooze,
cancel, rate limit) is an outcome, not an error. Limit: jobs that a schedule makes begin a trace of their own.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from cadenza.engine.client import Engine
from cadenza.engine.errors import MissingTrait
from cadenza.engine.job import Claimed
from cadenza.engine.options import stored_overrides
from cadenza.engine.outcomes import Retry, Signal

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


def trace(engine: Engine, tracer: "Tracer | None" = None) -> None:
    """Wrap every run of this engine's jobs into a span; a wrapper that is set stays inside it."""
    try:
        from opentelemetry.trace import SpanKind, Status, StatusCode, get_tracer
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
    except ModuleNotFoundError as error:
        message = "tracing needs OpenTelemetry: pip install 'cadenza[otel]'"
        raise MissingTrait(message) from error
    source = tracer or get_tracer("cadenza.engine")
    propagator = TraceContextTextMapPropagator()
    inner = engine.hooks.around

    def carry() -> dict[str, str]:
        words: dict[str, str] = {}
        propagator.inject(words)
        return words

    async def around(claimed: Claimed, run: Callable[[], Awaitable[Any]]) -> Any:
        with source.start_as_current_span(
            f"run {claimed.task}",
            context=propagator.extract(stored_overrides(claimed.options)),
            kind=SpanKind.CONSUMER,
            attributes=_attributes(claimed),
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                answer = await (run() if inner is None else inner(claimed, run))
            except Signal as decision:
                span.set_attribute("cadenza.outcome", type(decision).__name__.lower())
                if isinstance(decision, Retry):
                    span.set_status(Status(StatusCode.ERROR, str(decision)))
                raise
            except Exception as error:
                span.set_attribute("cadenza.outcome", "error")
                span.record_exception(error)
                span.set_status(Status(StatusCode.ERROR, f"{type(error).__name__}: {error}"))
                raise
            except BaseException:  # cut short from outside: a time limit, a cancel, a stop
                span.set_attribute("cadenza.outcome", "stopped")
                span.set_status(Status(StatusCode.ERROR, "stopped before it finished"))
                raise
            span.set_attribute("cadenza.outcome", "done")
            return answer

    engine.hooks.around = around
    engine.hooks.carry = carry


def _attributes(claimed: Claimed) -> dict[str, str | int]:
    said: dict[str, str | int] = {
        "messaging.system": "cadenza",
        "messaging.operation.type": "process",
        "messaging.destination.name": claimed.queue,
        "messaging.message.id": str(claimed.id),
        "cadenza.task": claimed.task,
        "cadenza.attempt": claimed.attempts + 1,
        "cadenza.crashes": claimed.crashes,
    }
    if claimed.lane is not None:
        said["cadenza.lane"] = claimed.lane
    if claimed.schedule is not None:
        said["cadenza.schedule"] = claimed.schedule
    return said
