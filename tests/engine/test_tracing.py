"""Every run is a span that says what became of it."""

from __future__ import annotations

import asyncio
import sys

import pytest
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, Tracer

from cadenza.engine import Cancel, Engine
from cadenza.engine.errors import MissingTrait
from cadenza.engine.testing.drain import drain
from cadenza.engine.tracing import trace


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracer(exporter: InMemorySpanExporter) -> Tracer:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider.get_tracer("test")


@pytest.fixture
def engine(tracer: Tracer) -> Engine:
    engine = Engine("memory://")
    trace(engine, tracer)
    return engine


async def test_a_run_belongs_to_the_trace_of_whoever_enqueued_it(
    engine: Engine, exporter: InMemorySpanExporter, tracer: Tracer
) -> None:
    @engine.task
    async def greet(name: str) -> None: ...

    async with engine:
        with tracer.start_as_current_span("sign up") as span:
            await greet.enqueue(name="Ada")
            await greet.enqueue_many([{"name": "Ben"}, {"name": "Cy"}])
            await engine.enqueue("greet", {"name": "Ada"}, priority=3)
        await greet.enqueue(name="alone")
        await drain(engine)

    runs = [run for run in exporter.get_finished_spans() if run.name == "run greet"]
    parents = [run.parent.span_id if run.parent else None for run in runs]
    assert sorted(map(str, parents)) == sorted(
        [str(span.get_span_context().span_id)] * 4 + ["None"]
    )


async def test_a_run_is_a_span_with_the_jobs_facts(
    engine: Engine, exporter: InMemorySpanExporter
) -> None:
    inside: list[bool] = []

    @engine.task(queue="mail")
    async def greet(name: str) -> str:
        inside.append(otel.get_current_span().is_recording())
        return name

    async with engine:
        job = await greet.using(lane="ada").enqueue(name="Ada")
        await drain(engine)
        assert await engine.output(job.id) == "Ada"
    (span,) = exporter.get_finished_spans()
    assert inside == [True]
    assert (span.name, span.kind) == ("run greet", SpanKind.CONSUMER)
    facts = _facts(span)
    assert facts["messaging.message.id"] == str(job.id)
    assert facts["messaging.destination.name"] == "mail"
    assert facts["cadenza.lane"] == "ada"
    assert facts["cadenza.attempt"] == 1
    assert facts["cadenza.outcome"] == "done"
    assert span.status.status_code is not StatusCode.ERROR


async def test_an_error_is_on_the_span(engine: Engine, exporter: InMemorySpanExporter) -> None:
    @engine.task(retry=0)
    def fail() -> None:
        raise ConnectionError("the network blinked")

    async with engine:
        await fail.enqueue()
        assert (await drain(engine)).failed == 1
    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == "ConnectionError: the network blinked"
    assert [event.name for event in span.events] == ["exception"]


async def test_a_decision_is_no_error(engine: Engine, exporter: InMemorySpanExporter) -> None:
    @engine.task
    async def decline() -> None:
        raise Cancel("not wanted any more")

    async with engine:
        await decline.enqueue()
        await drain(engine)
    (span,) = exporter.get_finished_spans()
    assert _facts(span)["cadenza.outcome"] == "cancel"
    assert span.status.status_code is StatusCode.UNSET


async def test_a_run_over_its_limit_ends_its_span(
    engine: Engine, exporter: InMemorySpanExporter
) -> None:
    @engine.task(time_limit=0.05, retry=0)
    async def endless() -> None:
        await asyncio.Event().wait()

    async with engine:
        await endless.enqueue()
        await drain(engine)
    (span,) = exporter.get_finished_spans()
    assert _facts(span)["cadenza.outcome"] == "stopped"
    assert span.status.status_code is StatusCode.ERROR


def test_without_opentelemetry_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(MissingTrait, match=r"pip install 'cadenza\[otel\]'"):
        trace(Engine("memory://"))


def _facts(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})
