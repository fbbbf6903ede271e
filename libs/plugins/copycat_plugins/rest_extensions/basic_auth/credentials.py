"""The name and the password in an `Authorization` header."""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple


class Credentials(NamedTuple):
    """Who somebody says to be."""

    name: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials({self.name!r}, [hidden])"


def credentials(header: str | None) -> Credentials | None:
    """Return what a header of the scheme `Basic` says; nothing where it is absent or malformed."""
    scheme, _, encoded = (header or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    name, colon, password = text.partition(":")
    return Credentials(name, password) if name and colon else None
