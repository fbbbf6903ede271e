"""Gathers what the site is made of: pages as they lie in the repository, pictures, and the code they link to.

Every file keeps its path, so links between pages stay as they are. A link to a folder leads to its README, or
to a list of its files; one to a file of code, to a page that shows it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?:(?<=\]\()|(?<=src=\"))([^)\s#\"]+)(#[^)\s]*)?(?=[)\"])")
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
PICTURES = {".svg", ".png"}
LANGUAGES = {
    ".py": "python",
    ".toml": "toml",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".json": "json",
    ".proto": "proto",
}
FOLDER_PAGE = "FILES.md"
#: Pages of code are no results of a search for words.
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"


def gather(target: Path, made: Mapping[str, str]) -> list[str]:
    """Write all pages below `target`; returns the paths of those that people read, sorted.

    Args:
        target: A folder that is not there yet.
        made: Pages that are made from the code, by path.
    """
    pages = tracked("*.md")
    sources = _Sources(target)
    for page in pages:
        text = sources.linked(page, (ROOT / page).read_text(encoding="utf-8"))
        _write(target / page, text)
    for page, text in made.items():
        _write(target / page, text)
    return sorted([*pages, *made])


def tracked(*patterns: str) -> list[str]:
    """Return the files of the repository that are like these patterns."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in sorted(set(listed.stdout.splitlines())) if (ROOT / name).is_file()]


class _Sources:
    """What pages link to besides pages, each written once."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._written: set[str] = set()

    def linked(self, page: str, text: str) -> str:
        """Return the text of a page with its links to folders and code turned to pages."""

        def turn(found: re.Match[str]) -> str:
            path, anchor = found[1], found[2] or ""
            return found[0] if "://" in path else self._turned(page, path) + anchor

        return outside_code(text, lambda part: LINK.sub(turn, part))

    def _turned(self, page: str, path: str) -> str:
        here = PurePosixPath(page).parent
        there = os.path.normpath(here / path)
        file = ROOT / there
        if file.is_dir():
            wanted = f"{there}/README.md"
            if not (ROOT / wanted).is_file():
                wanted = f"{there}/{FOLDER_PAGE}"
                self._once(wanted, lambda: _folder_page(there))
        elif file.suffix in PICTURES or file.suffix == ".md" or not file.is_file():
            wanted = there
            if file.suffix in PICTURES:
                self._copy(there)
        else:
            # The generator passes over hidden files.
            wanted = str(PurePosixPath(there).with_name(f"{file.name.lstrip('.')}.md"))
            self._once(wanted, lambda: _code_page(there))
        return os.path.relpath(wanted, here)

    def _once(self, path: str, text: Callable[[], str]) -> None:
        if path not in self._written:
            self._written.add(path)
            _write(self._target / path, text())

    def _copy(self, path: str) -> None:
        (self._target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, self._target / path)


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Return a text with a change made everywhere but in blocks of code."""
    return "".join(part if part.startswith("```") else change(part) for part in FENCE.split(text))


def _code_page(path: str) -> str:
    text = (ROOT / path).read_text(encoding="utf-8").rstrip()
    language = LANGUAGES.get(Path(path).suffix, "text")
    return f"{UNSEARCHED}# {path}\n\n~~~~ {language}\n{text}\n~~~~\n"


def _folder_page(path: str) -> str:
    files = [name.removeprefix(f"{path}/") for name in tracked(f"{path}/*")]
    listed = "\n".join(f"- `{name}`" for name in files)
    return f"{UNSEARCHED}# {path}\n\n{listed}\n"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
