"""Certificates, made when a test needs them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

SERVER: Final = ExtendedKeyUsageOID.SERVER_AUTH
CLIENT: Final = ExtendedKeyUsageOID.CLIENT_AUTH
SIGNS: Final = x509.KeyUsage(
    digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
    key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
)  # fmt: skip


class Authority:
    """Signs certificates; its own, in `file`, is what to trust."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        """Make it; everything it issues is kept in this folder."""
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        own = _begun(self._name, self._key).issuer_name(self._name)
        own = own.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self._certificate = own.add_extension(SIGNS, critical=True).sign(self._key, SHA256())
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(self._certificate.public_bytes(Encoding.PEM))

    def pem(
        self,
        name: str,
        *,
        password: str = "",
        uses: Sequence[x509.ObjectIdentifier] = (SERVER, CLIENT),
        days: int = 1,
    ) -> Path:
        """Return a PEM file with a key, encrypted where there is a password, and its certificate.

        Args:
            name: Whose it is; good for 127.0.0.1, too.
            password: Encrypts the key.
            uses: What the certificate is for.
            days: How long it is valid still.
        """
        key, certificate = self._issue(name, uses, days)
        file = self._folder / f"{name}.pem"
        text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, _encryption(password))
        file.write_bytes(text + certificate.public_bytes(Encoding.PEM))
        return file

    def pkcs12(self, name: str, password: str) -> Path:
        """Return a PKCS12 file with a key, its certificate and that of the authority."""
        key, certificate = self._issue(name, (SERVER, CLIENT), 1)
        file = self._folder / f"{name}.p12"
        above = [self._certificate]
        file.write_bytes(
            pkcs12.serialize_key_and_certificates(
                name.encode(), key, certificate, above, _encryption(password)
            )
        )
        return file

    def _issue(
        self, name: str, uses: Sequence[x509.ObjectIdentifier], days: int
    ) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
        key = ec.generate_private_key(ec.SECP256R1())
        hosts = x509.SubjectAlternativeName(
            [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
        )
        begun = _begun(_named(name), key, days).issuer_name(self._name)
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        begun = begun.add_extension(hosts, critical=False).add_extension(signer, critical=False)
        begun = begun.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
        return key, begun.sign(self._key, SHA256())


def _begun(name: x509.Name, key: ec.EllipticCurvePrivateKey, days: int = 1) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _encryption(password: str) -> KeySerializationEncryption:
    return BestAvailableEncryption(password.encode()) if password else NoEncryption()
