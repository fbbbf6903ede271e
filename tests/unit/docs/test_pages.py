"""The pages lead somewhere: links have targets, cited rules definitions, pictures sources."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
CITED = re.compile(r"(?<![\w.-])([IL][1-9])(?![\w%-])")
DEFINED = re.compile(r"^\| \*\*([IL]\d)\*\*", re.MULTILINE)
#: Documents that were at hand when the code was written and are not in the repository.
ABSENT = re.compile(r"\bspec/[\w-]+\.md|\b(?:style|design|kips)\.md\b")


def files(*patterns: str) -> list[Path]:
    """Return the files of the repository that are like one of these patterns."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


PAGES = files("*.md")
FILES = [f"/{file.relative_to(ROOT)}" for file in files()]
#: A file as pages name it, with the end of its path. Scripts are mostly Kafka's and Spark's.
FILE = re.compile(r"(?<![\w./*-])[\w-][\w./-]*\.(?:py|pyi|toml|proto|binpb)(?![\w.]|:\d)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_has_its_target(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    missing = []
    for target in (first or second for first, second in LINK.findall(text)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            missing.append(target)
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text("utf-8")
    made = set(re.findall(r"^```\w+ (\S+)$", text, re.MULTILINE))
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    named = {name for code in re.findall(r"`([^`\n]+)`", prose) for name in FILE.findall(code)}
    assert not {name for name in named - made if not any(each.endswith(f"/{name}") for each in FILES)}


def anchors(page: Path) -> set[str]:
    """Return the anchors that the headings of a page have on code hosts."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_invariant_and_law_that_is_cited_is_defined_on_the_architecture_page() -> None:
    defined = set(DEFINED.findall((ROOT / "services/README.md").read_text("utf-8")))
    assert defined == {*(f"I{number}" for number in range(1, 8)), *(f"L{number}" for number in range(1, 6))}
    cited: dict[str, str] = {}
    for file in files("services/*.py", "libs/*.py", "proto/*.proto", "tools/adr/*.md"):
        for rule in CITED.findall(file.read_text("utf-8")):
            cited.setdefault(rule, str(file.relative_to(ROOT)))
    assert not {rule: where for rule, where in cited.items() if rule not in defined}


def test_every_invariant_is_cited_where_the_code_upholds_it() -> None:
    code = files("services/*.py", "libs/*.py")
    cited = {rule for file in code for rule in CITED.findall(file.read_text("utf-8"))}
    assert {f"I{number}" for number in range(1, 8)} <= cited


def test_no_file_refers_to_a_document_that_is_not_in_the_repository() -> None:
    here = Path(__file__).resolve()
    named = [
        str(file.relative_to(ROOT))
        for file in files("*.py", "*.pyi", "*.md", "*.proto", "*.toml", "*.sh")
        if file != here and ABSENT.search(file.read_text("utf-8"))
    ]
    assert not named


def test_the_pictures_are_what_their_sources_give() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools/draw.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_no_readme_of_a_package_is_one_line() -> None:
    thin = [
        str(page.relative_to(ROOT))
        for page in PAGES
        if page.name == "README.md" and len(page.read_text("utf-8").splitlines()) < 8
    ]
    assert not thin
