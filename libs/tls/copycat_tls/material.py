"""What two stores hold at the moment, read again once their files change."""

from __future__ import annotations

import logging
import os
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeAlias

from copycat_connect.errors import ConfigError
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from copycat_tls.keys import CertificateStore, Tls
from copycat_tls.stores import Identity, pem, read_identity, read_trusted

log = logging.getLogger(__name__)

#: Of one file: another one, or another content, differs in one of these.
_Stamp: TypeAlias = tuple[int, int, int] | None
KEPT: Final = "the new TLS files are not used, the former ones count on: %s"


@dataclass(frozen=True, slots=True)
class Material:
    """Who we are and whom we trust, as PEM."""

    identity: Identity = field(repr=False, compare=False)
    """As it was read."""
    chain: bytes
    """Our certificate, then those of the authorities above it."""
    key: bytes = field(repr=False)
    """The private key of the first of them, not encrypted."""
    trusted: bytes
    """Certificates of the authorities to trust."""
    expires: datetime
    """When the first of the chain does."""


class LiveMaterial:
    """Reads the stores at the start, and again when a file of theirs has changed; any thread may ask."""

    def __init__(self, tls: Tls) -> None:
        """Read them.

        Raises:
            ConfigError: One cannot be opened, or our certificate has expired.
        """
        self._tls = tls
        self._lock = threading.Lock()
        self._stamps = self._look()
        self._current = _read(tls)

    def current(self) -> Material:
        """Return what counts now; the same object until the files change.

        Files that cannot be used, as those that are half replaced, are logged and read again once
        they change; until then the former ones count.
        """
        with self._lock:
            stamps = self._look()
            if stamps != self._stamps:
                self._stamps = stamps
                self._renew()
            return self._current

    def _renew(self) -> None:
        try:
            found = _read(self._tls)
        except ConfigError as error:
            log.warning(KEPT, error)
            return
        if found != self._current:
            self._current = found
            log.info(
                "the TLS files were replaced: new connections use them; ours expires on %s", found.expires
            )

    def _look(self) -> tuple[_Stamp, ...]:
        return tuple(_stamp(store) for store in (self._tls.keystore, self._tls.truststore))


def _stamp(store: CertificateStore) -> _Stamp:
    if store.location is None:
        return None
    try:
        found = os.stat(store.location)  # noqa: PTH116 - before each call: a Path costs more than the question
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _read(tls: Tls) -> Material:
    identity, trusted = read_identity(tls), read_trusted(tls.truststore)
    expires = identity.chain[0].not_valid_after_utc
    if expires <= datetime.now(UTC):
        name = tls.keystore.key("location" if tls.keystore.certificates is None else "certificate.chain")
        raise ConfigError(
            f"{name} has a certificate that expired on {expires}: put a renewed one there", key=name
        )
    key = identity.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return Material(identity, pem(identity.chain).encode(), key, pem(trusted).encode(), expires)
