"""Export of metrics over OTLP, where a collector is named."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from copycat_connect.config import INT, LOW, ConfigDef, ConfigKey, at_least
from copycat_connect.config.worker_keys import SPAN_ENDPOINT

from copycat_telemetry.metrics.definitions import MetricsRegistry

if TYPE_CHECKING:
    from copycat_telemetry.metrics.otlp import MetricExport

_log = logging.getLogger(__name__)

INTERVAL: Final = ConfigKey(
    "otel.metric.export.interval.ms",
    INT,
    LOW,
    default=60_000,
    validator=at_least(1),
    doc="Milliseconds between two exports of metrics to the collector of otel.exporter.otlp.endpoint.",
)


@asynccontextmanager
async def exporting(
    service: str, properties: Mapping[str, str], registry: MetricsRegistry
) -> AsyncIterator[None]:
    """Export a registry while the block runs; without a collector nothing is loaded.

    Raises:
        ConfigError: The interval is wrong.
    """
    interval = ConfigDef(INTERVAL).parse(properties)[INTERVAL.name] / 1000
    endpoint = properties.get(SPAN_ENDPOINT.name)
    if not endpoint:
        yield
        return
    from copycat_telemetry.metrics.otlp import MetricExport  # 120 ms, where metrics are exported

    export = MetricExport(service, endpoint)
    loop = asyncio.create_task(_export(export, registry, interval))
    try:
        yield
    finally:
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)
        await asyncio.to_thread(export.close)


async def _export(export: MetricExport, registry: MetricsRegistry, interval: float) -> None:
    while True:
        await asyncio.sleep(interval)
        try:
            readings = registry.read()
        except Exception:
            _log.exception("The metrics cannot be read, the next export tries again")
        else:
            await asyncio.to_thread(export.send, readings)
