"""Lists and watches of the running services: who may not see the one connector learns nothing of it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from copycat_rpc.users.shown import SHOWN

from tests.integration.refusals.guarded import CONNECTOR, SECONDS, Guarded, showing

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


def answers(guarded: Guarded, path: str, token: str) -> Iterator[Any]:
    """Yield the answers to a call, of a watch up to the end of its snapshot."""
    role, method = path.split(".")[1], path.rpartition("/")[2]
    contract = import_module(f"copycat.{role}.v1.{role}_service_pb2")
    request = getattr(contract, f"{method}Request")()
    kinds = {
        "request_serializer": lambda message: message.SerializeToString(),
        "response_deserializer": getattr(contract, f"{method}Response").FromString,
    }
    shown = showing(token)
    with guarded.channel(role, guarded.certificates.known) as channel:
        if not method.startswith("Watch"):
            yield channel.unary_unary(path, **kinds)(request, metadata=shown, timeout=SECONDS)
            return
        for each in channel.unary_stream(path, **kinds)(request, metadata=shown, timeout=SECONDS):
            yield each
            if each.snapshot_complete:
                return


@pytest.mark.parametrize("path", SHOWN)
def test_only_those_who_may_see_a_connector_are_told_of_it(guarded: Guarded, path: str) -> None:
    def told(token: str) -> bool:
        found = list(answers(guarded, path, token))
        assert found, "no answer, which is not the same as an empty one"
        return any(CONNECTOR.encode() in each.SerializeToString() for each in found)

    tokens = {name: guarded.issuer.token(name) for name in ("ann", "eve", "bob")}
    assert {name: told(token) for name, token in tokens.items()} == {"ann": True, "eve": True, "bob": False}
    assert told(guarded.secret)
