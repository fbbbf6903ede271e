"""TLS of the command line: whom it trusts, what it shows, and why a connection failed."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

from copycat_cli.errors import UsageError


def tls_context(ca: Path | None, cert: Path | None) -> ssl.SSLContext | None:
    """Return what to speak TLS with; nothing where neither file is given.

    Args:
        ca: PEM file of the authorities to trust, in place of those of the public web.
        cert: PEM file with a certificate and its private key, to show to a cluster that asks for one.

    Raises:
        UsageError: A file is no such file.
    """
    if ca is None and cert is None:
        return None
    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:  # SSLError is one
        raise UsageError(
            f"--ca {ca} cannot be used ({_reason(error)}): name a PEM file of certificates to trust"
        ) from error
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # what is named is trusted, an authority or not
    if cert is not None:
        try:
            context.load_cert_chain(cert, password=lambda: "")
        except (OSError, ValueError) as error:
            raise UsageError(
                f"--cert {cert} cannot be used ({_reason(error)}): name a PEM file with a certificate and its"
                " private key, the key without a password"
            ) from error
    return context


def distrust(error: BaseException) -> str:
    """Return why a certificate was not trusted; empty where that is not what happened."""
    refusals = (
        each.verify_message for each in _chain(error) if isinstance(each, ssl.SSLCertVerificationError)
    )
    return next(refusals, "")


def _reason(error: Exception) -> str:
    return str((isinstance(error, OSError) and error.strerror) or error)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
