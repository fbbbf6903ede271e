"""What a host needs to know to start: its launch spec."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Final

TASK_NAME: Final = "task@"


def thread_tag(start: int) -> str:
    """Return what the threads of a task are called in the kernel, by the number of its start.

    The executor reads there who computes in a host that answers nothing.
    """
    return f"{TASK_NAME}{start}"


@dataclass(frozen=True, slots=True)
class HostTls:
    """What a host calls its executor with where gRPC is encrypted; all of it PEM text."""

    certificate: str
    """Of all hosts of one executor, which alone accepts it: hosts run code of plugins."""
    key: str = field(repr=False)
    """Its private key."""
    trusted: str
    """Certificates of the authorities of the executor."""
    server_name: str
    """The name that the executor's certificate bears."""


@dataclass(frozen=True, slots=True)
class HostSpec:
    """The launch spec of one host; travels as JSON through Spark."""

    host_id: str
    """Names the host to its executor."""
    executor_address: str
    """`host:port` of the executor's HostService."""
    token: str = field(repr=False)
    """What the host's call to the executor carries; never logged."""
    log_level: str = "INFO"
    """Level of the root logger."""
    worker_id: str = ""
    """The executor's worker id, for logs."""
    failed_plugins: Mapping[str, str] = field(default_factory=dict)
    """Entry points of plugins not to load, and why: they fail, or end or hold up who loads them."""
    span_endpoint: str = ""
    """OTLP collector for spans; empty for none."""
    tls: HostTls | None = None
    """Missing where gRPC is in plain text."""

    def to_json(self) -> str:
        """Write the spec as compact JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> HostSpec:
        """Read a specification from what `to_json` wrote."""
        read = json.loads(text)
        tls = read.pop("tls", None)
        return cls(**read, tls=None if tls is None else HostTls(**tls))
