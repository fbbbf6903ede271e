"""What Spark runs in a Python worker: one host, from its spec to its summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

SPEC = "spec"
SCHEMA = "summary string"


def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Run the host whose spec is in the one row; give its summary when it ended."""
    # Imported here, in the worker: the driver needs none of it.
    import pyarrow as pa  # noqa: PLC0415

    from copycat_executor.host.entry import run_host  # noqa: PLC0415
    from copycat_executor.host.spec import HostSpec  # noqa: PLC0415

    for batch in batches:
        for spec in batch.column(0).to_pylist():
            summary = run_host(HostSpec.from_json(spec))
            yield pa.RecordBatch.from_pydict({"summary": [summary]})


def idle(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Take the way of a host through Spark and do nothing."""
    import pyarrow as pa  # noqa: PLC0415

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"summary": ["idle"]})
