"""The public keys of an issuer: fetched when needed, kept, and fetched again for a key nobody knows yet."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, cast

import httpx2
from copycat_connect.errors import ConfigError, UnavailableError
from copycat_connect.files import check_client_file, read_named_file
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key, KeySet, OctKey

from copycat_access.settings import CA, ISSUER, JWKS, TokenSettings, check_url, is_url

log = logging.getLogger(__name__)

DISCOVERY_PATH: Final = "/.well-known/openid-configuration"
MAX_KEY_AGE_SECONDS: Final = 600.0
"""After it keys are fetched again, so that one that the issuer has withdrawn is forgotten."""
MIN_FETCH_INTERVAL_SECONDS: Final = 10.0
"""Between two fetches for keys that nobody knows, or after a failure: made-up tokens flood no issuer."""
FETCH_TIMEOUT_SECONDS: Final = 5.0
MAX_DOCUMENT_BYTES: Final = 1_000_000


class KeysUnusableError(Exception):
    """Keys could not be had, with the reason for the log."""


class SigningKeys:
    """The keys of one issuer; used from one event loop."""

    def __init__(self, settings: TokenSettings, clock: Callable[[], float] = time.monotonic) -> None:
        """Prepare; nothing is fetched yet, so that an issuer that is away holds up no start.

        Raises:
            ConfigError: A file of keys or of authorities cannot be used.
        """
        self._settings = settings
        self._clock = clock
        self._keys: KeySet | None = None
        self._fetched_at = self._blocked_until = float("-inf")
        self._fetching = asyncio.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._file = None if settings.jwks is None or is_url(settings.jwks) else Path(settings.jwks)
        self._trusted = self._authorities()
        if self._file is not None:
            self._read_at_start(self._file)

    async def known(self, key_id: str | None) -> KeySet:
        """Return the keys, with that of the id where the issuer has it.

        Raises:
            UnavailableError: No keys are known yet, and the issuer cannot be asked now.
        """
        if self._is_due(key_id):
            async with self._fetching:
                if self._is_due(key_id):
                    await self._renew()
        if self._keys is None:
            raise UnavailableError(
                f"Tokens cannot be checked now: the keys of {ISSUER} could not be had. Try again later"
            )
        return self._keys

    def _is_due(self, key_id: str | None) -> bool:
        """Return whether to ask for the keys: at first, when they are old, and for one that is not known."""
        if self._file is not None:
            return _stamp(self._file) != self._stamp
        if self._clock() < self._blocked_until:
            return False
        return self._keys is None or self._are_old() or not _has(self._keys, key_id)

    def _are_old(self) -> bool:
        return self._clock() - self._fetched_at > MAX_KEY_AGE_SECONDS

    async def _renew(self) -> None:
        for_unknown = self._keys is not None and not self._are_old()
        try:
            self._keys = await self._fetched() if self._file is None else self._read(self._file)
        except KeysUnusableError as error:
            self._blocked_until = self._clock() + MIN_FETCH_INTERVAL_SECONDS
            kept = "tokens are refused until then" if self._keys is None else "those before stay in force"
            log.warning("the keys that tokens are checked with could not be had, %s: %s", kept, error)
            return
        self._fetched_at = self._clock()
        if for_unknown:
            self._blocked_until = self._clock() + MIN_FETCH_INTERVAL_SECONDS

    async def _fetched(self) -> KeySet:
        timeout = httpx2.Timeout(FETCH_TIMEOUT_SECONDS)
        try:
            async with (
                asyncio.timeout(2 * FETCH_TIMEOUT_SECONDS),
                httpx2.AsyncClient(verify=self._trusted, timeout=timeout) as client,
            ):
                url = self._settings.jwks or await self._discovered(client)
                return _key_set(await _document(client, url), url)
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
            reason = f"{type(error).__name__} while {self._settings.jwks or self._settings.issuer} was asked"
            raise KeysUnusableError(reason) from error

    async def _discovered(self, client: httpx2.AsyncClient) -> str:
        issuer = self._settings.issuer
        url = issuer.rstrip("/") + DISCOVERY_PATH
        document = await _document(client, url)
        if document.get("issuer") != issuer:
            raise KeysUnusableError(f"{url} is about another issuer than {issuer}: correct {ISSUER}")
        try:
            check_url(ISSUER, found := str(document.get("jwks_uri")))
        except ConfigError as error:
            raise KeysUnusableError(f"the jwks_uri of {url} cannot be used: {error.message}") from error
        return found

    def _read(self, file: Path) -> KeySet:
        self._stamp = _stamp(file)
        try:
            text = read_named_file(file)
        except OSError as error:
            raise KeysUnusableError(f"{file} cannot be read ({error.strerror})") from error
        return _key_set(_parsed(text, str(file)), str(file))

    def _read_at_start(self, file: Path) -> None:
        try:
            self._keys = self._read(file)
        except KeysUnusableError as error:
            raise ConfigError(
                f"{JWKS} cannot be used: {error}. Let it name a JWK set of public keys", key=JWKS
            ) from error

    def _authorities(self) -> ssl.SSLContext:
        if self._settings.ca is not None:
            check_client_file(CA, self._settings.ca)
        try:
            return ssl.create_default_context(cafile=self._settings.ca)
        except OSError as error:  # what ssl raises, too
            raise ConfigError(
                f"{CA} names {self._settings.ca}, which cannot be used ({error.strerror or error}): let it"
                " name a PEM file of certificates",
                key=CA,
            ) from error


async def _document(client: httpx2.AsyncClient, url: str) -> Mapping[str, Any]:
    content = bytearray()
    async with client.stream("GET", url) as reply:
        if reply.status_code != httpx2.codes.OK:
            raise KeysUnusableError(f"{url} answered with {reply.status_code}")
        async for part in reply.aiter_bytes():
            content += part
            if len(content) > MAX_DOCUMENT_BYTES:
                raise KeysUnusableError(f"{url} answered with more than {MAX_DOCUMENT_BYTES} bytes")
    return _parsed(bytes(content), url)


def _parsed(text: bytes, source: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found
    raise KeysUnusableError(f"{source} has no JSON object")


def _key_set(document: Mapping[str, Any], source: str) -> KeySet:
    """Return the public keys of a set; one of an unknown kind, or a shared one, is left out."""
    listed = document.get("keys")
    found = [_key(each) for each in cast("list[object]", listed)] if isinstance(listed, list) else []
    keys = [key for key in found if key is not None]
    if not keys:
        raise KeysUnusableError(f"{source} has no public key that can be used")
    return KeySet(keys)


def _key(data: object) -> Key | None:
    if not isinstance(data, dict):
        return None
    try:
        key = JWKRegistry.import_key(data)
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    return None if isinstance(key, OctKey) else key


def _has(keys: KeySet, key_id: str | None) -> bool:
    return key_id is None or any(key.kid == key_id for key in keys)


def _stamp(file: Path) -> tuple[int, int, int]:
    try:
        found = file.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)
