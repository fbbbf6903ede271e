"""The menu of the site: which page stands under which heading. Every page stands under one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

#: Headings in their order, each with patterns of paths; a page goes where it fits first.
HEADINGS: Mapping[str, Sequence[str]] = {
    "What it is": ("README.md",),
    "Quick starts": (
        "services/launcher/RUNNING.md",
        "services/cli/README.md",
        "libs/connect/WRITING_A_CONNECTOR.md",
        "services/launcher/README.md",
        "libs/client/README.md",
    ),
    "From Kafka Connect": ("MIGRATING.md", "services/gateway/DIFFERENCES.md"),
    "Security": (
        "*SECURITY*.md",
        "*THREAT*.md",
        "tools/adr/0014-rest-over-tls.md",
        "tools/adr/0021-grpc-calls-carry-a-cluster-secret.md",
        "libs/plugins/copycat_plugins/rest_extensions/*",
    ),
    "Operations": (
        "deploy/monitoring/README.md",
        "deploy/monitoring/RUNBOOK.md",
        "deploy/*.md",
        "services/executor/*[A-Z][A-Z]*[!E].md",
        "services/launcher/RECOVERY.md",
        "services/launcher/ISOLATION.md",
        "services/launcher/LIMITS.md",
        "tools/load/LOAD.md",
    ),
    "Troubleshooting": ("reference/error-codes.md",),
    "Reference": ("reference/*", "libs/plugins/copycat_plugins/transforms/*", "proto/CHANGELOG.md"),
    "Connectors": (
        "libs/plugins/CONNECTORS.md",
        "libs/plugins/copycat_plugins/connectors/*",
        "libs/plugins_*/copycat_*/*/README.md",
    ),
    "Architecture": ("services/README.md", "services/GLOSSARY.md", "services/*"),
    "Decisions": ("tools/adr/*",),
    "Developing": ("*",),
}
#: Titles of pages whose own say too little in a menu.
TITLES: Mapping[str, str] = {"README.md": "Copycat"}


@dataclass(frozen=True, slots=True)
class Section:
    """One heading with its pages."""

    heading: str
    pages: tuple[str, ...]


def menu(pages: Sequence[str]) -> list[Section]:
    """Return the headings that have pages, each page once, in the order of the patterns."""
    left = list(pages)
    sections = []
    for heading, patterns in HEADINGS.items():
        found: list[str] = []
        for pattern in patterns:
            fitting = [page for page in left if fnmatchcase(page, pattern)]
            found += fitting
            left = [page for page in left if page not in fitting]
        if found:
            sections.append(Section(heading, tuple(found)))
    return sections


def title(page: str) -> str:
    """Return what a menu calls a page whose own first heading says too little there; else nothing."""
    if page in TITLES:
        return TITLES[page]
    path = PurePosixPath(page)
    return str(path.parent) if path.name == "README.md" and path.parts[0] in {"tests", "tools"} else ""
