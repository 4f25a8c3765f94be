"""OpenTelemetry spans for the agent's work. Imports the SDK, so it is imported late."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from bot.agent.run import SetAttributes


class OtelSpans:
    """`bot.agent.run.Spans` by OpenTelemetry, with the names of its conventions for generative AI.

    Texts of people and models are left out unless `with_texts`. The SDK's own variables say where spans are sent
    (`OTEL_EXPORTER_OTLP_ENDPOINT`, ...), or `exporter` does.
    """

    def __init__(self, *, with_texts: bool, exporter: SpanExporter | None = None) -> None:
        self._with_texts = with_texts
        self._provider = TracerProvider(resource=Resource.create({"service.name": "goodbot"}))
        self._provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("goodbot")

    @contextmanager
    def __call__(
        self, name: str, attributes: Mapping[str, str | int | float], texts: Mapping[str, str]
    ) -> Iterator[SetAttributes]:
        """A span for the duration of the context. Of an exception only its type is recorded."""
        kind = SpanKind.CLIENT if name.startswith("chat ") else SpanKind.INTERNAL
        whole = {**attributes, **(texts if self._with_texts else {})}
        with self._tracer.start_as_current_span(
            name, kind=kind, attributes=whole, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span.set_attributes
            except BaseException as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(StatusCode.ERROR)
                raise

    def flush(self) -> None:
        """Send all finished spans. Blocking."""
        self._provider.force_flush()
