"""Lines of JSON on the standard output: how Kafka's connectors for tests say what happened to each record."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping

from copycat_connect.data import ConnectValue


def print_json(*lines: Mapping[str, ConnectValue]) -> None:
    """Print each mapping on a line of its own, written as Jackson does; all of them at once.

    What cannot be written as JSON becomes a line that says so, and is no JSON.
    """
    print_line(*map(_line, lines))


def print_line(*lines: str) -> None:
    """Print each text on a line of its own, all of them at once; none is left out, however many there are."""
    out = getattr(sys.stdout, "unlimited", sys.stdout)  # a worker bounds what other plugins print
    out.write("".join(f"{line}\n" for line in lines))
    out.flush()


def _line(data: Mapping[str, ConnectValue]) -> str:
    try:
        return json.dumps(data, separators=(",", ":"), ensure_ascii=False, default=_plain)
    except (TypeError, ValueError) as error:
        return f"Bad data can't be written as json: {error}"


def _plain(value: ConnectValue) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"no JSON for a {type(value).__name__}")
