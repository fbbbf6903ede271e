"""A certificate in Python's own TLS, which loads private keys from files only."""

from __future__ import annotations

import secrets
import ssl
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from copycat_connect.errors import ConfigError
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
from cryptography.x509 import Certificate

from copycat_tls.stores import Identity


def show(context: ssl.SSLContext, identity: Identity, source: str) -> None:
    """Give a context its certificate; the key passes through a file of its own for a moment, encrypted.

    Raises:
        ConfigError: TLS cannot use it; the text names the key `source`.
    """
    passphrase = secrets.token_hex()
    key = identity.key.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(passphrase.encode())
    )
    with TemporaryDirectory(prefix="copycat-") as folder:
        file = Path(folder, "identity.pem")
        file.write_bytes(key + pem(identity.chain).encode())
        try:
            context.load_cert_chain(file, password=passphrase)
        except ssl.SSLError as error:
            raise ConfigError(
                f"{source} has a certificate that TLS cannot serve ({error.reason}): make one with an RSA key"
                " of 2048 bits or more, or an EC key",
                key=source,
            ) from error


def pem(certificates: Iterable[Certificate]) -> str:
    """Return certificates as PEM text."""
    return "".join(each.public_bytes(Encoding.PEM).decode() for each in certificates)
