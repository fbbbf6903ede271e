"""Whether an instance of a role serves, as its own health check says."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request

from copycat_rpc import health

ASK_SECONDS = 2.0


def serves(role: str, address: str) -> bool:
    """Return whether the role that listens at `host:port` says that it serves."""
    if role == "gateway":
        return _gateway_serves(f"http://{address}")
    return asyncio.run(health.serves(address, ASK_SECONDS))


def _gateway_serves(root: str) -> bool:
    try:
        with urllib.request.urlopen(f"{root}/health", timeout=ASK_SECONDS) as answer:  # noqa: S310 - the tests' own
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
