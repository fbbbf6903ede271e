"""What author code raised, as data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from copycat_connect.errors import CopycatError

from copycat_executor.pipeline.records.trace import class_name, trace_text


def failure(error: BaseException, scrub: Callable[[str], str]) -> dict[str, Any]:
    """Describe an error; `scrub` takes secrets out of its texts.

    An error that carries a code of ours keeps it: the service answers with it.
    """
    described: dict[str, Any] = {
        "class": class_name(error),
        "message": scrub(error.message if isinstance(error, CopycatError) else str(error)),
        "trace": scrub(trace_text(error)),
    }
    if isinstance(error, CopycatError):
        described["code"] = [error.code.name, error.code.grpc, error.code.http]
        described["fields"] = {name: scrub(value) for name, value in error.fields.items()}
    return described
