"""What Spark runs in a Python worker: one host, from its spec to its summary."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

SPEC = "spec"
SCHEMA = "summary string"


def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Run the host whose spec is in the one row; give its summary when it ended."""
    # Imported here, in the worker: the driver needs none of it.
    from copycat_executor.host.entry import run_host  # noqa: PLC0415
    from copycat_executor.host.spec import HostSpec  # noqa: PLC0415

    for batch in batches:
        for spec in batch.column(0).to_pylist():
            yield _row(run_host(HostSpec.from_json(spec)))


def idle(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Take the way of a host through Spark and do nothing."""
    for _ in batches:
        yield _row("idle")


def _row(text: str) -> pa.RecordBatch:
    """Make one row from raw buffers: `pyarrow.array` would import pandas, which takes a second."""
    import pyarrow as pa  # noqa: PLC0415

    content = text.encode()
    ends = pa.py_buffer(struct.pack("=ii", 0, len(content)))
    column = pa.StringArray.from_buffers(1, ends, pa.py_buffer(content))
    return pa.RecordBatch.from_arrays([column], ["summary"])
