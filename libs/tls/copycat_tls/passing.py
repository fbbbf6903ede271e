"""A certificate made in memory, for processes that shall not have the one of their cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

#: Clocks of two machines may differ.
LEEWAY = timedelta(days=1)
#: It is forgotten with the process that made it, which may run for long.
LIFETIME = timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class PassingCertificate:
    """A certificate that only who made it trusts."""

    certificate: str
    """PEM text."""
    key: str = field(repr=False)
    """Its private key as PEM text; it is never written to a file."""


def make_certificate(name: str) -> PassingCertificate:
    """Make a certificate that is its own authority, with a new key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - LEEWAY)
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return PassingCertificate(made.public_bytes(Encoding.PEM).decode(), text.decode())
