"""Spans of OpenTelemetry for what the agent does. Imports its SDK, so it is imported late."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from bot.agent.run import SetAttributes


class OtelSpans:
    """`bot.agent.run.Spans` by OpenTelemetry: named by its conventions for generative AI.

    People's and models' texts are left out unless `with_texts`. Where spans go is said by the SDK's own variables
    (`OTEL_EXPORTER_OTLP_ENDPOINT`, ...), or by `exporter`.
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
        """A span as long as the context lasts. What fails in it is an error of the span, by its kind alone."""
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
        """Send what waits. Blocking."""
        self._provider.force_flush()
