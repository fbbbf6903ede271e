"""Key and trust stores of Java clients as PEM: in a file, or as text in the property itself (KIP-651)."""

from __future__ import annotations

import os
import re
import ssl
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from copycat_connect.errors import ConfigError
from copycat_connect.files import check_client_file

TRUSTED: Final = "ssl.truststore.certificates"
CHAIN: Final = "ssl.keystore.certificate.chain"
KEY: Final = "ssl.keystore.key"
PASSWORD: Final = "ssl.key.password"  # noqa: S105 - the name of a property
_PEM: Final = "PEM"
_LINE_LENGTH: Final = 64
_BLOCK: Final = re.compile(r"(-----BEGIN [^-]+-----)([^-]*)(-----END [^-]+-----)")


@dataclass(frozen=True, slots=True)
class Stores:
    """Whom to trust and who to be; for each of the two a file or texts, or neither."""

    trusted_file: str | None = None
    """Trusted certificates; None trusts those of the operating system."""
    trusted_text: str | None = None
    """The same as PEM text."""
    identity_file: str | None = None
    """Certificate chain and key in one file, as Java's PEM key store has them."""
    chain_text: str | None = None
    """Certificate chain as PEM text, with `key_text`."""
    key_text: str | None = field(default=None, repr=False)
    """Private key as PEM text, with `chain_text`."""
    key_password: str | None = field(default=None, repr=False)
    """What the private key is encrypted with."""


def read_stores(properties: Mapping[str, str]) -> Stores:
    """Read a client's `ssl.truststore.*`, `ssl.keystore.*` and `ssl.key.password`.

    Raises:
        ConfigError: A store is of a kind only Java reads, is given twice or in half; the text names the key.
    """
    chain, key = _text(properties, "ssl.keystore", CHAIN), _text(properties, "ssl.keystore", KEY)
    for missing, given, text in ((KEY, CHAIN, chain), (CHAIN, KEY, key)):
        if text is not None and not properties.get(missing):
            raise ConfigError(
                f"{missing} is missing beside {given}: give both, or a PEM file in ssl.keystore.location",
                key=missing,
            )
    return Stores(
        trusted_file=_file(properties, "ssl.truststore"),
        trusted_text=_text(properties, "ssl.truststore", TRUSTED),
        identity_file=_file(properties, "ssl.keystore"),
        chain_text=chain,
        key_text=key,
        key_password=properties.get(PASSWORD),
    )


def _file(properties: Mapping[str, str], store: str) -> str | None:
    location = properties.get(f"{store}.location")
    kind = properties.get(f"{store}.type", "JKS").upper()
    if location is not None and kind != _PEM:
        raise ConfigError(
            f"{store}.type={kind} is not supported; convert {location} to PEM and set {store}.type=PEM",
            key=f"{store}.type",
        )
    if location is not None:
        check_client_file(f"{store}.location", location)
    return location


def _text(properties: Mapping[str, str], store: str, key: str) -> str | None:
    text = properties.get(key)
    if not text:
        return None
    kind = properties.get(f"{store}.type", _PEM).upper()
    if kind != _PEM:
        raise ConfigError(
            f"{key} holds PEM text, but {store}.type={kind}: set {store}.type=PEM", key=f"{store}.type"
        )
    if properties.get(f"{store}.location"):
        raise ConfigError(f"Both {key} and {store}.location are given: remove one of them", key=key)
    blocks = _BLOCK.findall(text)
    if not blocks:
        raise ConfigError(
            f"{key} holds no PEM text: write -----BEGIN ...-----, the content and -----END ...-----", key=key
        )
    return "".join(f"{begin}\n{_lines(content)}\n{end}\n" for begin, content, end in blocks)


def _lines(content: str) -> str:
    """Return base64 in the lines that OpenSSL wants: properties are often written in a single one."""
    if ":" in content:  # headers of an encrypted key: their lines count
        return content.strip()
    return textwrap.fill("".join(content.split()), _LINE_LENGTH)


def tls_context(stores: Stores, *, check_host: bool) -> ssl.SSLContext:
    """Return what Python's own clients encrypt with.

    Raises:
        ConfigError: A text is not what its key says.
    """
    try:
        context = ssl.create_default_context(cafile=stores.trusted_file, cadata=stores.trusted_text)
    except OSError as error:
        raise _unreadable(TRUSTED if stores.trusted_text else "ssl.truststore.location", error) from error
    context.check_hostname = check_host
    if stores.identity_file is not None:
        _show(context, Path(stores.identity_file), "ssl.keystore.location", stores.key_password)
    elif stores.chain_text is not None and stores.key_text is not None:
        with TemporaryDirectory(prefix="copycat-") as folder:  # OpenSSL reads nothing but files
            file = Path(folder, "identity.pem")
            file.touch(mode=0o600)
            file.write_text(stores.chain_text + stores.key_text)
            _show(context, file, KEY, stores.key_password)
    return context


def _show(context: ssl.SSLContext, identity: Path, key: str, password: str | None) -> None:
    try:
        # Without a password OpenSSL would ask for one on the terminal.
        context.load_cert_chain(identity, password=password or "")
    except OSError as error:
        raise _unreadable(key, error) from error


def _unreadable(key: str, error: OSError) -> ConfigError:
    reason = getattr(error, "reason", None) or os.strerror(error.errno or 0)
    message = f"{key} cannot be read as PEM ({reason}): correct it, and {PASSWORD} where a key is encrypted"
    return ConfigError(message, key=key)


def librdkafka_stores(stores: Stores) -> dict[str, str]:
    """Return the stores in librdkafka's words."""
    given = {
        "ssl.ca.location": stores.trusted_file,
        "ssl.ca.pem": stores.trusted_text,
        "ssl.certificate.location": stores.identity_file,
        "ssl.key.location": stores.identity_file,
        "ssl.certificate.pem": stores.chain_text,
        "ssl.key.pem": stores.key_text,
        "ssl.key.password": stores.key_password,
    }
    return {key: value for key, value in given.items() if value is not None}
