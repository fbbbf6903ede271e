"""Keeps secrets out of what is said: values of passwords, and of whatever looks like one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from copycat_cli.configuration import HIDDEN, is_secret
from copycat_connect.cluster import Config
from copycat_connect.config.secrets import Secrets

from copycat_launcher.migrate.findings import Finding

#: A login within an address, or a value that is made of settings.
LOGIN = re.compile(r"//[^/\s:]*+:[^/\s@]*+@|(?:password|passwd|secret|token)\s*=", re.IGNORECASE)


def hide(findings: Iterable[Finding], config: Config, declared: Collection[str] = ()) -> list[Finding]:
    """Return findings without any secret value of a configuration in their texts.

    Args:
        findings: What is said.
        config: The configuration it is said about.
        declared: Keys that plugins declare as passwords.
    """
    secret = _secret(config, declared)
    everywhere = Secrets.of(dict.fromkeys(secret.values(), HIDDEN))

    def clean(finding: Finding) -> Finding:
        # In the text about its own key a value is replaced however short it is.
        own = secret.get(finding.key)
        texts = [
            everywhere.scrub(text if own is None else text.replace(own, HIDDEN))
            for text in (finding.text, finding.fix)
        ]
        return replace(finding, text=texts[0], fix=texts[1])

    return [clean(finding) for finding in findings]


def hide_in(text: str, config: Config, declared: Collection[str] = ()) -> str:
    """Return a text about a configuration without any of its secret values."""
    return Secrets.of(dict.fromkeys(_secret(config, declared).values(), HIDDEN)).scrub(text)


def _secret(config: Config, declared: Collection[str]) -> dict[str, str]:
    return {
        key: value
        for key, value in config.items()
        if value and (is_secret(key, value, declared) or LOGIN.search(value))
    }
