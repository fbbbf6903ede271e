"""Who is let in to do what, as the worker properties say: made once, for all listeners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from copycat_access.audit import Audit
from copycat_access.rules_file import RulesFile
from copycat_access.settings import RULES_FILE, AccessSettings
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.rest_extensions import Authenticator

from copycat_gateway.access.authentication import Authentication, AuthorThreads
from copycat_gateway.access.authorisation import Access


@dataclass(frozen=True, slots=True)
class Admission:
    """What every request passes."""

    authentication: Authentication
    """Who calls."""
    access: Access
    """What they may do."""
    audit: Audit | None
    """Where it is written down; none where nobody has to log in."""


@contextmanager
def open_admission(
    settings: AccessSettings, authenticators: Mapping[str, Authenticator], threads: AuthorThreads
) -> Iterator[Admission]:
    """Make it, and close the file of the audit at the end.

    Raises:
        ConfigError: A file that a setting names cannot be used, or there are rules and nobody logs in.
    """
    tokens = None
    if settings.tokens is not None:
        from copycat_access.tokens import TokenCheck  # noqa: PLC0415 - 340 ms, where tokens are accepted

        tokens = TokenCheck(settings.tokens)
    authentication = Authentication(tokens, authenticators, threads)
    if settings.rules_file is not None and not authentication.is_wanted:
        raise ConfigError(
            f"{RULES_FILE} is set, and nobody can log in, so that all would be denied: set"
            " access.token.issuer for tokens, or name an extension for names and passwords in"
            " rest.extension.classes",
            key=RULES_FILE,
        )
    rules = None if settings.rules_file is None else RulesFile(settings.rules_file)
    audited = settings.audit_file is not None or authentication.is_wanted
    audit = Audit("gateway", settings.audit_file) if audited else None
    try:
        yield Admission(authentication, Access(None if rules is None else rules.rules), audit)
    finally:
        if audit is not None:
            audit.close()
