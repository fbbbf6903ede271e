"""`/metrics`: the metrics of all services, for Prometheus."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from copycat.metrics.v1 import metrics_service_pb2 as pb
from copycat_telemetry.metrics.groups import GROUPS
from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.di import NamedDependency
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric, UnknownMetricFamily
from prometheus_client.registry import Collector, CollectorRegistry

from copycat_gateway.edge.openapi.operations import documented
from copycat_gateway.scrape import Scrape, ServiceMetrics

#: The charset is said by whoever answers.
CONTENT_TYPE: Final = CONTENT_TYPE_LATEST.removesuffix("; charset=utf-8")
STATUS: Final = "status"
_FULL_NAMES: Final = {group.name: group.full_name for group in GROUPS}
_DOCS: Final = {(group.name, metric.name): metric.doc for group in GROUPS for metric in group.metrics}

Labels = Mapping[str, str]


def page(services: Sequence[ServiceMetrics]) -> bytes:
    """Write the metrics of all services, and which of them answered, in Prometheus's text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collected(services))
    return generate_latest(registry)


class _Collected(Collector):
    """Families of samples: all of one name together, of whichever service."""

    def __init__(self, services: Sequence[ServiceMetrics]) -> None:
        self._services = services
        self._families: dict[str, Metric] = {}

    def collect(self) -> Iterable[Metric]:
        """Return one family a name, with the samples of every service."""
        self._families = {}
        for each in self._services:
            where = {"service": each.service, "address": each.address}
            up = self._family(GaugeMetricFamily, "copycat_service_up", "1 where a service answers, else 0.")
            up.add_sample(up.name, where, float(each.groups is not None))
            for group in each.groups or ():
                self._add(group, where)
        return list(self._families.values())

    def _add(self, group: pb.MetricGroup, where: Labels) -> None:
        labels = {**{_name(tag): value for tag, value in sorted(group.tags.items())}, **where}
        for metric in group.metrics:
            doc = _DOCS.get((group.name, metric.name), "")
            full_name = _FULL_NAMES.get(group.name, f"kafka.connect.{group.name}")
            name = _name(f"{full_name}.{metric.name}")
            match metric.WhichOneof("value"):
                case "total":
                    family = self._family(_counter(name), name, doc)
                    family.add_sample(name, labels, metric.total)
                case "text":
                    family = self._family(GaugeMetricFamily, _text_name(group.name, metric.name), doc)
                    family.add_sample(family.name, {**labels, _name(metric.name): metric.text}, 1.0)
                case _:
                    family = self._family(GaugeMetricFamily, name, doc)
                    family.add_sample(name, labels, metric.gauge)

    def _family(self, kind: Callable[[str, str], Metric], name: str, doc: str) -> Metric:
        if name not in self._families:
            self._families[name] = kind(name, doc)
        return self._families[name]


def _counter(name: str) -> Callable[[str, str], Metric]:
    """Choose the type of a total: counters end in _total here, and a few of Kafka's names do not."""
    return CounterMetricFamily if name.endswith("_total") else UnknownMetricFamily


def _text_name(group: str, metric: str) -> str:
    """Name a metric that is a word, which becomes a label: of a state as dashboards look for it."""
    if metric == STATUS:
        return f"kafka_connect_{_name(group.removesuffix('-metrics'))}_status"
    return f"kafka_connect_{_name(group)}_{_name(metric)}"


def _name(kafka: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]", "_", kafka)


async def take_any_caller(_: Request[Any, Any, State]) -> None:
    """Let every caller pass: all other resources ask for one that takes JSON."""


@get(
    "/metrics",
    summary="Metrics of every service, as Prometheus reads them",
    tags=["worker"],
    media_type="text/plain",
    before_request=take_any_caller,
    operation_class=documented(local=True),
)
async def read_metrics(scrape: NamedDependency[Scrape]) -> Response[bytes]:
    """Answer with what can be read now; a service that is away is said to be."""
    written = await asyncio.to_thread(page, await scrape.read())  # tens of milliseconds in a large cluster
    return Response(written, media_type=CONTENT_TYPE)


HANDLERS = (read_metrics,)
