"""Key stores and trust stores (PEM, PKCS12), opened, and shown to Python's TLS, which reads keys of files."""

from __future__ import annotations

import secrets
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from copycat_connect.config.setting import Password
from copycat_connect.errors import ConfigError
from copycat_connect.files import read_named_file
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import Certificate, load_pem_x509_certificates

from copycat_tls.keys import PEM, PKCS12, CertificateStore, Tls

#: How the files of Java's own two formats begin.
JAVA: Final = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")
UNREADABLE: Final = (ValueError, TypeError, UnsupportedAlgorithm)


@dataclass(frozen=True, slots=True)
class Identity:
    """What a listener shows who it is with."""

    key: PrivateKeyTypes
    chain: tuple[Certificate, ...]
    """The certificate of the key, then those of the authorities above it."""


def read_identity(tls: Tls) -> Identity:
    """Open the key store.

    Raises:
        ConfigError: It does not exist, cannot be opened, or has no key with its certificate.
    """
    store = tls.keystore
    if tls.key is not None or store.certificates is not None:
        identity = _identity_of_texts(tls)
    else:
        content = _content(store, "the private key and its certificate chain")
        identity = _identity_of_pem(tls, content) if _is_pem(store, content) else _of_pkcs12(store, content)
    if identity.key.public_key() != identity.chain[0].public_key():
        raise ConfigError(
            f"{_source(store)} has a private key that is not that of its first certificate: begin the chain"
            " with the certificate of the key",
            key=_source(store),
        )
    return identity


def read_trusted(store: CertificateStore) -> tuple[Certificate, ...]:
    """Open a trust store.

    Raises:
        ConfigError: It does not exist, cannot be opened, or has no certificate.
    """
    if store.certificates is not None:
        return _certificates(store.certificates.value.encode(), store.key("certificates"))
    content = _content(store, "the certificates of the authorities to trust")
    if _is_pem(store, content):
        return _certificates(content, store.key("location"))
    opened = _open_pkcs12(store, content)
    found = [each.certificate for each in (opened.cert, *opened.additional_certs) if each is not None]
    if not found:
        raise _no_certificate(store.key("location"))
    return tuple(found)


def _identity_of_texts(tls: Tls) -> Identity:
    store = tls.keystore
    chain, key = store.key("certificate.chain"), store.key("key")
    if tls.key is None or store.certificates is None:
        missing, other = (key, chain) if tls.key is None else (chain, key)
        raise ConfigError(
            f"{missing} is not set, but {other} is: set both, as PEM text, or {store.key('location')} alone",
            key=missing,
        )
    certificates = _certificates(store.certificates.value.encode(), chain)
    return Identity(_private_key(tls, tls.key.value.encode(), key), certificates)


def _identity_of_pem(tls: Tls, content: bytes) -> Identity:
    location = tls.keystore.key("location")
    return Identity(_private_key(tls, content, location), _certificates(content, location))


def _of_pkcs12(store: CertificateStore, content: bytes) -> Identity:
    opened = _open_pkcs12(store, content)
    if opened.key is None or opened.cert is None:
        raise ConfigError(
            f"{store.key('location')} has '{store.location}', in which there is no private key with its"
            " certificate: put both in, e.g. openssl pkcs12 -export -inkey KEY -in CHAIN -out FILE",
            key=store.key("location"),
        )
    above = (each.certificate for each in opened.additional_certs)
    return Identity(opened.key, (opened.cert.certificate, *above))


def _content(store: CertificateStore, holds: str) -> bytes:
    location = store.key("location")
    if store.location is None:
        raise ConfigError(
            f"{location} is not set: name the file that holds {holds}, PEM text with"
            f" {store.key('type')}={PEM}, or PKCS12 with {store.key('password')}",
            key=location,
        )
    try:
        return read_named_file(store.location)
    except OSError as error:
        raise ConfigError(
            f"{location} has '{store.location}', which cannot be read ({error.strerror}): name the file"
            f" that holds {holds}",
            key=location,
        ) from error


def _is_pem(store: CertificateStore, content: bytes) -> bool:
    """Return whether a file is PEM text, or else PKCS12.

    Raises:
        ConfigError: It is of another type than was said, or of one that only Java reads.
    """
    type, location = store.key("type"), store.key("location")
    if content.startswith(JAVA):
        raise ConfigError(
            f"{location} has '{store.location}', a Java key store (JKS), which only Java reads: convert to"
            " PEM or PKCS12, e.g. keytool -importkeystore -srckeystore FILE -destkeystore FILE.p12"
            f" -deststoretype PKCS12, and set {type}={PKCS12}",
            key=location,
        )
    is_pem = b"-----BEGIN" in content
    if is_pem != (store.type == PEM):
        found, fix = ("PEM text", f"set {type}={PEM}") if is_pem else ("no PEM text", f"set {type}={PKCS12}")
        raise ConfigError(
            f"{location} has '{store.location}', which is {found}, but {type} is {store.type}: {fix}, or name"
            " another file",
            key=type,
        )
    return is_pem


def _certificates(content: bytes, source: str) -> tuple[Certificate, ...]:
    try:
        found = tuple(load_pem_x509_certificates(content))
    except UNREADABLE as error:
        raise _no_certificate(source) from error
    return found


def _private_key(tls: Tls, content: bytes, source: str) -> PrivateKeyTypes:
    name = f"{tls.prefix}ssl.key.password"
    encrypted = b"ENCRYPTED" in content
    if encrypted and tls.key_password is None:
        raise ConfigError(
            f"{name} is not set, but the private key of {source} is encrypted: set it", key=name
        )
    try:
        return load_pem_private_key(content, _secret(tls.key_password) if encrypted else None)
    except UNREADABLE as error:
        if encrypted:
            raise ConfigError(
                f"{name} does not open the private key of {source}: set the password it was encrypted with",
                key=name,
            ) from error
        raise ConfigError(
            f"{source} has no private key that can be read: it holds the key as PEM text,"
            " -----BEGIN PRIVATE KEY----- to -----END PRIVATE KEY-----",
            key=source,
        ) from error


def _open_pkcs12(store: CertificateStore, content: bytes) -> pkcs12.PKCS12KeyAndCertificates:
    try:
        return pkcs12.load_pkcs12(content, _secret(store.password))
    except UNREADABLE as error:
        name = store.key("password")
        state = "is not set and" if store.password is None else "is wrong, or"
        raise ConfigError(
            f"{name} {state} '{store.location}' cannot be opened as {PKCS12}: set the password of the file,"
            f" and see that {store.key('location')} names a {PKCS12} file",
            key=name,
        ) from error


def _no_certificate(source: str) -> ConfigError:
    return ConfigError(
        f"{source} has no certificate that can be read: it holds one or more, as PEM text"
        " -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----, or as PKCS12",
        key=source,
    )


def _source(store: CertificateStore) -> str:
    return store.key("location" if store.certificates is None else "certificate.chain")


def _secret(password: Password | None) -> bytes | None:
    return None if password is None else password.value.encode()


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
