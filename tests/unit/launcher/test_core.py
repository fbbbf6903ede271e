"""Where the services are, as their log says it; anybody may have written to that, too."""

from __future__ import annotations

import json

import pytest
from copycat_eventlog.log import Record
from copycat_launcher.core import WHERE, addresses_in
from copycat_launcher.roles import SERVICES

ADDRESSES = {role.name: "127.0.0.1:9101" for role in SERVICES}


def test_addresses_are_read_back() -> None:
    assert addresses_in(Record(WHERE, json.dumps(ADDRESSES).encode())) == ADDRESSES


@pytest.mark.parametrize(
    "value",
    [
        *(None, b"", b"\xff", b"{", b"[]", b"7", b"[" * 100_000, b"9" * 5000, rb'"\ud800"'),
        json.dumps({**ADDRESSES, "config": 9101}).encode(),
        json.dumps({"config": "127.0.0.1:9101"}).encode(),
    ],
)
def test_what_another_program_wrote_names_no_addresses(value: bytes | None) -> None:
    assert addresses_in(Record(WHERE, value)) is None
