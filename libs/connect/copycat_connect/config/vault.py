"""Secrets of a HashiCorp Vault, or of whatever answers its HTTP API: key/value engines, version 2 and 1."""

from __future__ import annotations

import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Collection, Mapping
from http.client import HTTPException, HTTPResponse
from typing import Any, Final
from urllib.parse import quote, urlsplit

from copycat_connect.config.provider import ConfigProvider
from copycat_connect.errors import ConfigError
from copycat_connect.files import check_client_file, read_named_file

ADDRESS: Final = "address"
TOKEN: Final = "token"  # noqa: S105 - the name of a parameter
TOKEN_FILE: Final = "token.file"  # noqa: S105 - likewise
NAMESPACE: Final = "namespace"
TTL: Final = "ttl.ms"
TIMEOUT: Final = "timeout.ms"
ALLOWED: Final = "allowed.paths"
TRUSTSTORE: Final = "ssl.truststore.location"
KEYSTORE: Final = "ssl.keystore.location"
_KNOWN: Final = (ADDRESS, TOKEN, TOKEN_FILE, NAMESPACE, TTL, TIMEOUT, ALLOWED, TRUSTSTORE, KEYSTORE)
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_TIMEOUT_MS: Final = 5000
_MAX_BYTES: Final = 1_000_000
_CHUNK: Final = 65_536


class _TooLongError(ValueError):
    """A reply is longer than a secret can be."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A token is sent to the address that was named, and to no other."""

    def redirect_request(self, *_: object) -> None:
        return None


class VaultConfigProvider(ConfigProvider):
    """Reads `/v1/<path>` for `${vault:<path>:<key>}`, e.g. `${vault:secret/data/orders:password}`."""

    def __init__(self, params: Mapping[str, str], environment: Mapping[str, str]) -> None:
        """Use these parameters; nothing is requested yet.

        Raises:
            ConfigError: One is unknown, wrong or missing; the text names it.
        """
        for name in params:
            if name not in _KNOWN:
                raise ConfigError(f"VaultConfigProvider has no parameter {name}: use {', '.join(_KNOWN)}")
        self._address = _address(params.get(ADDRESS) or environment.get("VAULT_ADDR", ""))
        self._token = params.get(TOKEN) or environment.get("VAULT_TOKEN", "")
        self._token_file = params.get(TOKEN_FILE)
        if not self._token and not self._token_file:
            raise ConfigError(f"VaultConfigProvider has no token: set {TOKEN_FILE}, {TOKEN} or VAULT_TOKEN")
        self._namespace = params.get(NAMESPACE) or environment.get("VAULT_NAMESPACE", "")
        self._allowed = [
            each.strip().strip("/") for each in params.get(ALLOWED, "").split(",") if each.strip()
        ]
        self._seconds = (_number(params, TIMEOUT) or _TIMEOUT_MS) / 1000
        self._ttl_ms = _number(params, TTL)
        self._leases: dict[str, int] = {}
        self._opener = urllib.request.build_opener(
            _NoRedirects, urllib.request.HTTPSHandler(context=_context(params))
        )

    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]:
        """Return the values of those of the keys that the secret has; what is no text, as JSON.

        Raises:
            ConfigError: There is no such secret, the token does not open it, or Vault does not answer.
        """
        found, lease_seconds = self._read(self._checked(path))
        self._leases[path] = lease_seconds * 1000
        return {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in found.items()
            if key in keys
        }

    def ttl_ms(self, path: str) -> int | None:
        """Return the shorter of the lease of the secret and what the parameters say; None without either."""
        return min((each for each in (self._leases.get(path), self._ttl_ms) if each), default=None)

    def _checked(self, path: str) -> str:
        plain = path.strip("/")
        if not plain or any(part in {"", ".", ".."} for part in plain.split("/")):
            raise ConfigError(f"'{path}' is no path of a secret in Vault: write e.g. secret/data/orders")
        if self._allowed and not any(f"{plain}/".startswith(f"{each}/") for each in self._allowed):
            raise ConfigError(f"The path {path} is not one of {ALLOWED} of the config provider")
        return plain

    def _read(self, path: str) -> tuple[Mapping[str, Any], int]:
        """Ask for a secret; replies are not repeated in errors, since they may hold values."""
        headers = {"X-Vault-Token": self._current_token(), "X-Vault-Request": "true"}
        if self._namespace:
            headers["X-Vault-Namespace"] = self._namespace
        url = f"{self._address}/v1/{quote(path, safe='/')}"
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 - http(s) only, _address sees to it
        deadline = time.monotonic() + self._seconds
        try:
            with self._opener.open(request, timeout=self._seconds) as answer:
                reply = json.loads(_body(answer, deadline))
        except urllib.error.HTTPError as error:
            error.close()
            raise _refused(path, error.code) from None
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise _unanswered(self._address, path, type(reason).__name__) from None
        return _secret(reply, path)

    def _current_token(self) -> str:
        """Read the file each time: whoever renews the token writes it there."""
        if self._token_file is None:
            return self._token
        try:
            return read_named_file(self._token_file).decode("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise ConfigError(
                f"Could not read the token of Vault from {self._token_file}, which {TOKEN_FILE} names"
            ) from None


def _address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        state = f"has '{text}'" if text else "is not set"
        raise ConfigError(f"{ADDRESS} of VaultConfigProvider {state}: write it as https://HOST:PORT")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        message = f"{ADDRESS} of VaultConfigProvider has '{text}', and the token would be read on its way"
        raise ConfigError(f"{message}: write https://, or an address of this machine")
    return text.rstrip("/")


def _number(params: Mapping[str, str], name: str) -> int | None:
    text = params.get(name)
    if text is None:
        return None
    if not text.strip().isdigit() or int(text) == 0:
        raise ConfigError(f"{name} of VaultConfigProvider has '{text}': write milliseconds, 1 or more")
    return int(text)


def _context(params: Mapping[str, str]) -> ssl.SSLContext:
    name = TRUSTSTORE
    for key in (TRUSTSTORE, KEYSTORE):
        if key in params:
            check_client_file(f"{key} of VaultConfigProvider", params[key])
    try:
        context = ssl.create_default_context(cafile=params.get(TRUSTSTORE))
        name = KEYSTORE
        if KEYSTORE in params:
            # Without a password OpenSSL would ask for one on the terminal.
            context.load_cert_chain(params[KEYSTORE], password="")
    except OSError as error:  # an error of TLS is one, too
        message = f"{name} of VaultConfigProvider has '{params[name]}', which cannot be read as PEM"
        raise ConfigError(f"{message} ({error.strerror or 'no certificate, or an encrypted key'})") from None
    return context


def _body(answer: HTTPResponse, deadline: float) -> bytes:
    read = b""
    while chunk := answer.read1(_CHUNK):
        read += chunk
        if len(read) > _MAX_BYTES:
            raise _TooLongError
        if time.monotonic() > deadline:
            raise TimeoutError
    return read


def _secret(reply: object, path: str) -> tuple[Mapping[str, Any], int]:
    whole: dict[str, Any] = reply if isinstance(reply, dict) else {}
    data = whole.get("data")
    if isinstance(data, dict) and isinstance(data.get("metadata"), dict) and "data" in data:  # version 2
        data = data["data"]
    if not isinstance(data, dict):
        raise ConfigError(
            f"Vault has no values at {path}: of a key/value engine of version 2, write <mount>/data/<name>"
        )
    lease = whole.get("lease_duration")
    return data, lease if isinstance(lease, int) else 0


def _refused(path: str, status: int) -> ConfigError:
    reasons = {
        403: "the token is not valid, or its policy does not let it read this",
        404: "there is no such secret; of an engine of version 2, write <mount>/data/<name>",
        429: "it is asked too often",
        503: "it is sealed or being maintained",
    }
    return ConfigError(f"Vault answers {status} for {path}: {reasons.get(status, 'see its audit log')}")


def _unanswered(address: str, path: str, reason: str) -> ConfigError:
    return ConfigError(
        f"Vault at {address} gives no answer for {path} ({reason}): see that it runs, that {ADDRESS} is right"
        f" and, with https, that {TRUSTSTORE} names its authority"
    )
