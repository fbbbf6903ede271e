"""Metrics as OpenTelemetry's instruments; imported only where a collector is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf, isnan

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.metrics import CallbackOptions, Meter, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

from copycat_telemetry.losses import Losses
from copycat_telemetry.metrics.definitions import Metric, MetricGroup, MetricKind, Reading
from copycat_telemetry.metrics.groups import GROUPS

Callback = Callable[[CallbackOptions], Iterable[Observation]]


class _CountingExporter(OTLPMetricExporter):
    """Counts the exports that the collector does not take."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint=endpoint)
        self._losses = Losses("metrics", endpoint)

    def export(
        self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: object
    ) -> MetricExportResult:
        """Send the metrics; blocks."""
        result = super().export(metrics_data, timeout_millis, **kwargs)
        if result is not MetricExportResult.SUCCESS:
            self._losses.note(1)
        return result


class MetricExport:
    """Sends readings as `<domain>.<group>.<metric>`; a text is the attribute of a 1."""

    def __init__(self, service: str, endpoint: str) -> None:
        # Readings are taken in the service's event loop, so that no thread of the SDK reads beside it.
        self._reader = PeriodicExportingMetricReader(_CountingExporter(endpoint), export_interval_millis=inf)
        self._provider = MeterProvider(
            metric_readers=[self._reader],
            resource=Resource.create({"service.name": f"copycat-{service}"}),
        )
        self._readings: Sequence[Reading] = ()
        meter = self._provider.get_meter("copycat")
        for group in GROUPS:
            for metric in group.metrics:
                self._instrument(meter, group, metric)

    def send(self, readings: Sequence[Reading]) -> None:
        """Send readings; blocks. A collector that is away is logged now and then."""
        self._readings = readings
        self._reader.collect()

    def close(self) -> None:
        """Let go of the connection, whatever is still being sent; blocks."""
        self._provider.shutdown()

    def _instrument(self, meter: Meter, group: MetricGroup, metric: Metric) -> None:
        create = (
            meter.create_observable_counter
            if metric.kind is MetricKind.TOTAL
            else meter.create_observable_gauge
        )
        name = f"{group.full_name}.{metric.name}"
        create(name, callbacks=[self._observe(group, metric)], description=metric.doc)

    def _observe(self, group: MetricGroup, metric: Metric) -> Callback:
        def observe(_: CallbackOptions) -> Iterable[Observation]:
            for reading in self._readings:
                if reading.group is not group or metric.name not in reading.values:
                    continue
                value = reading.values[metric.name]
                if isinstance(value, str):
                    yield Observation(1, {**reading.tags, metric.name: value})
                elif not isnan(value):
                    yield Observation(value, dict(reading.tags))

        return observe
