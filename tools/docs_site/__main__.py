"""`python -m tools.docs_site`: gathers the pages in build/docs and builds the site in build/site.

Every warning fails: a link that leads nowhere, an anchor that is not there, a page that no menu has.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from tools.docs_site.gathering import ROOT, gather
from tools.docs_site.reference import reference_pages

BUILD = ROOT / "build"
COLOUR = re.compile(r"\x1b\[[\d;]*m")
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
GENERATOR_SETTINGS = """[project]
site_name = "Copycat"
site_description = "Kafka Connect rebuilt in Python"
docs_dir = "docs"
site_dir = "site"
use_directory_urls = false
nav = [
{nav}
]

[project.theme]
variant = "modern"
font = false
features = ["navigation.indexes", "navigation.top", "content.code.copy", "search.highlight"]

[project.markdown_extensions.tables]
[project.markdown_extensions.attr_list]
[project.markdown_extensions.md_in_html]
[project.markdown_extensions.toc]
permalink = true
[project.markdown_extensions.pymdownx.superfences]
[project.markdown_extensions.pymdownx.highlight]
"""


def build(folder: Path) -> int:
    """Build the site below a folder: its sources in `docs`, the site in `site`; returns the exit code."""
    sources = folder / "docs"
    shutil.rmtree(sources, ignore_errors=True)
    pages = gather(sources, reference_pages())
    config = folder / "docs.toml"
    config.write_text(_settings_text(menu(pages)), encoding="utf-8")
    generator = Path(sys.executable).with_name("zensical")
    command = [str(generator), "build", "--strict", "--clean", "--config-file", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        print(COLOUR.sub("", done.stdout + done.stderr), file=sys.stderr)
        return done.returncode
    print(f"{len(pages)} pages: {folder / 'site' / 'index.html'}")
    return 0


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


def _title(page: str) -> str:
    """Return what a menu calls a page whose own first heading says too little there; else nothing."""
    if page in TITLES:
        return TITLES[page]
    path = PurePosixPath(page)
    return str(path.parent) if path.name == "README.md" and path.parts[0] in {"tests", "tools"} else ""


def _settings_text(sections: Sequence[Section]) -> str:
    """Return the settings of the generator with this menu, as TOML."""
    return GENERATOR_SETTINGS.replace("{nav}", ",\n".join(_section(section) for section in sections))


def _section(section: Section) -> str:
    pages = ", ".join(_page(page) for page in section.pages)
    return f"  {{ {json.dumps(section.heading)} = [{pages}] }}"


def _page(page: str) -> str:
    named = _title(page)
    return f"{{ {json.dumps(named)} = {json.dumps(page)} }}" if named else json.dumps(page)


if __name__ == "__main__":
    BUILD.mkdir(exist_ok=True)
    sys.exit(build(BUILD))
