"""Prometheus metrics of this process and of the whole memory, for `/metrics`.

Labels have few values and name no person, place or text. Counting takes microseconds; metrics of the database are read
on request, in a thread, and cached.
"""

import logging
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from functools import partial
from threading import Lock

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from memory.errors import MemoryFault
from memory.model import EventKind
from memory.services import Memory, MemoryState

log = logging.getLogger(__name__)

FRESH_S = 15.0
"""How long, in seconds, metrics of the database are cached."""
_QUICK = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_SLOW = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class Metrics:
    """The metrics of a process and its memory. Thread-safe."""

    def __init__(self, memory: Memory, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.registry = registry = CollectorRegistry()
        for kind in (ProcessCollector, PlatformCollector, GCCollector):
            kind(registry=registry)
        counter, histogram = partial(Counter, registry=registry), partial(Histogram, registry=registry)
        self.events = counter("goodbot_events", "What people did, by platform and kind.", ["platform", "kind"])
        self.answers = counter("goodbot_answers", "Answers by what became of them.", ["outcome"])
        self.answer_seconds = histogram(
            "goodbot_answer_seconds", "How long the agent worked on an answer.", buckets=_SLOW
        )
        self.recalls = counter("goodbot_recalls", "Recalls by whether they found something.", ["result"])
        self.recall_seconds = histogram("goodbot_recall_seconds", "How long a recall took.", buckets=_QUICK)
        self.model_seconds = histogram(
            "goodbot_model_seconds", "How long the model took to reply.", ["model"], buckets=_SLOW
        )
        self.model_errors = counter(
            "goodbot_model_errors", "Requests that the model did not answer, by why.", ["error"]
        )
        self.tokens = counter("goodbot_model_tokens", "Tokens by kind.", ["kind"])
        self.cost = counter("goodbot_model_cost_usd", "What the model cost, in US dollars.")
        self.errors = counter("goodbot_errors", "Lines of the log that tell of a fault, by part.", ["part"])
        self.queue = Gauge(
            "goodbot_queue_depth", "Messages that wait in this process until it is their turn.", registry=registry
        )
        self.requests = histogram(
            "goodbot_http_seconds",
            "How long HTTP requests took, by area and class of status.",
            ["area", "status"],
            buckets=_QUICK,
        )
        registry.register(MemoryCollector(memory, monotonic))

    def text(self) -> bytes:
        """All metrics in the format of Prometheus. Blocking."""
        return generate_latest(self.registry)

    def log_handler(self) -> logging.Handler:
        """A handler that counts logged errors by the part of the program."""
        return _ErrorCounter(self.errors)


class _ErrorCounter(logging.Handler):
    def __init__(self, errors: Counter) -> None:
        super().__init__(logging.ERROR)
        self._errors = errors

    def emit(self, record: logging.LogRecord) -> None:
        self._errors.labels(part=record.name if record.name.startswith(("bot.", "memory.")) else "library").inc()


class MemoryCollector(Collector):
    """Metrics of the database, whichever process wrote it.

    Events are counted from the start of this process by reading the log on from there, so counts never fall.
    """

    def __init__(self, memory: Memory, monotonic: Callable[[], float]) -> None:
        self._memory, self._monotonic = memory, monotonic
        self._lock = Lock()
        self._happened = memory.monitoring.now()
        self._totals = Tally[EventKind]()
        self._state: tuple[float, MemoryState | None] = (0.0, None)

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """No metrics, so that registering it reads nothing."""
        return iter(())

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """All metrics. If the database cannot be read, only that and the counts so far."""
        with self._lock:
            try:
                state = self._current()
            except MemoryFault as error:
                log.warning("the metrics of memory cannot be read: %s", error)
                state = None
        yield GaugeMetricFamily("goodbot_database_up", "Whether the database can be read.", float(state is not None))
        if state is not None:
            yield from self._of_state(state)
        events = CounterMetricFamily(
            "goodbot_memory_events",
            "Entries in the log of memory since this process began, by any process: voted, injected, used, ...",
            labels=["kind"],
        )
        for kind in EventKind:
            events.add_metric([kind.value], self._totals[kind])
        yield events

    def _current(self) -> MemoryState:
        read_at, state = self._state
        now = self._monotonic()
        if state is None or now - read_at >= FRESH_S:
            self._happened = self._memory.monitoring.since(self._happened)
            self._totals.update(self._happened.kinds)
            state = self._memory.monitoring.state()
            self._state = (now, state)
        return state

    def _of_state(self, state: MemoryState) -> Iterator[GaugeMetricFamily]:
        verdicts = GaugeMetricFamily(
            "goodbot_episodes", "Episodes by what they count as for an audience.", labels=["audience", "verdict"]
        )
        for each in state.verdicts:
            verdicts.add_metric([each.audience.value, each.verdict.value], each.number)
        yield verdicts
        yield GaugeMetricFamily(
            "goodbot_waiting_messages", "Messages without a posted answer, of all processes.", state.waiting
        )
        yield from _of_jobs(state)


def _of_jobs(state: MemoryState) -> Iterator[GaugeMetricFamily]:
    # Not the label `job`, which Prometheus uses for its targets: it would rename ours.
    ended = GaugeMetricFamily(
        "goodbot_job_last_end_timestamp_seconds", "When each job ended last.", labels=["name"], unit="seconds"
    )
    took = GaugeMetricFamily("goodbot_job_last_seconds", "How long its last run took.", labels=["name"], unit="seconds")
    failed = GaugeMetricFamily("goodbot_job_failed", "Whether its last run failed.", labels=["name"])
    due = GaugeMetricFamily(
        "goodbot_job_due_timestamp_seconds", "When it is to run next.", labels=["name"], unit="seconds"
    )
    for each in state.jobs:
        name = [each.job.name]
        due.add_metric(name, each.due_at.timestamp())
        if each.last is not None:
            ended.add_metric(name, each.last.finished_at.timestamp())
            took.add_metric(name, (each.last.finished_at - each.last.started_at).total_seconds())
            failed.add_metric(name, float(bool(each.last.error)))
    yield from (ended, took, failed, due)
