"""The settings of the site's generator."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tools.docs_site.menu import Section, title

FIXED = """[project]
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


def settings_text(sections: Sequence[Section]) -> str:
    """Return the settings with this menu, as TOML."""
    return FIXED.replace("{nav}", ",\n".join(_section(section) for section in sections))


def _section(section: Section) -> str:
    pages = ", ".join(_page(page) for page in section.pages)
    return f"  {{ {json.dumps(section.heading)} = [{pages}] }}"


def _page(page: str) -> str:
    named = title(page)
    return f"{{ {json.dumps(named)} = {json.dumps(page)} }}" if named else json.dumps(page)
