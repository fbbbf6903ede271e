"""Pages lead somewhere: links, cited rules, pictures, commands; every page has its place in the site."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from copycat_gateway.access.authorisation import NEEDS
from copycat_launcher.main import copycat, copycat_worker

from tools.docs_site.__main__ import build, menu
from tools.docs_site.gathering import gather, outside_code, tracked
from tools.docs_site.reference import reference_pages

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


BLOCK = re.compile(r"^ *```(?:sh)?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
PROGRAMS = {"copycat": copycat, "copycat-worker": copycat_worker}
REST = "http://127.0.0.1:8083"
#: What divides a line of a shell into commands.
DIVIDERS = {"&&", "||", ";", "|", "$(", ">", ">>"}
#: A program, its variables before it and a prompt aside.
COMMAND = re.compile(
    r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?(copycat|copycat-worker|make|curl|python -m) "
)


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each command of the programs this test knows."""
    for block in BLOCK.findall(text):
        lines = re.sub(r"\\\n", " ", block).splitlines()
        session = any(line.startswith("$ ") for line in lines)  # the other lines are what was answered
        for line in lines:
            if session and not line.startswith("$ "):
                continue
            if COMMAND.match(line.strip()) and line.count("'") % 2 == 0:
                yield from _parts(re.sub(r"^\$ ", "", line.strip()))


def _parts(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    part: list[str] = []
    for word in (*lexer, ";"):
        if word in DIVIDERS:
            while part and re.match(r"[A-Z_]+=", part[0]):
                part.pop(0)
            if part:
                yield [part[0].removeprefix(".venv/bin/"), *part[1:]]
            part = []
        else:
            part.append(word)


def unknown(words: list[str]) -> str:
    """Return what a command names that is not there; nothing when all is."""
    program, *rest = words
    if program in PROGRAMS:
        return _unknown_to_click(PROGRAMS[program], program, rest)
    if program == "make":
        made = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
        return " ".join(each for each in rest if "=" not in each and each not in made)
    if program == "curl":
        paths = [word.removeprefix(REST) for word in rest if word.startswith(REST)]
        method = rest[rest.index("-X") + 1] if "-X" in rest else "GET"
        return " ".join(path for path in paths if not _is_route(method, path))
    if program == "python":
        module, *paths = rest[rest.index("-m") + 1 :]
        missing = [] if importlib.util.find_spec(module) else [module]
        return " ".join([*missing, *(p for p in paths if p.startswith("tests/") and not (ROOT / p).exists())])
    return ""


def _unknown_to_click(command: click.Command, name: str, words: list[str]) -> str:
    context = click.Context(command, info_name=name)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        if found is None:
            return "" if Path(words[0]).suffix in {".properties", ".json"} else words[0]
        command, name, *words = found, *words
    options = {
        option for each in command.get_params(context) for option in (*each.opts, *each.secondary_opts)
    }
    given = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    return " ".join(option for option in given if option not in options)


def _is_route(method: str, path: str) -> bool:
    bare = path.partition("?")[0] or "/"
    return any(
        method == of and re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", route), bare) for of, route in NEEDS
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_is_one_there_is(page: Path) -> None:
    wrong = {shlex.join(words): unknown(words) for words in commands(page.read_text("utf-8"))}
    assert not {command: names for command, names in wrong.items() if names}


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("copycat apply --forse lines.properties", "--forse"),
        ("copycat aply lines.properties", "aply"),
        ("copycat offsets mov files", "mov"),
        ("make no-such-target", "no-such-target"),
        (f"curl -s {REST}/conectors", "/conectors"),
        (f"curl -X POST {REST}/connectors/a/pause", "/connectors/a/pause"),
        ("python -m copycat_no_such", "copycat_no_such"),
        ("$ copycat list && copycat lisst", "lisst"),
        ("COPYCAT_USER=ann:secret copycat list  # who asks", ""),
        ("copycat worker.properties lines.properties", ""),
    ],
)
def test_a_wrong_command_is_seen(line: str, names: str) -> None:
    found = [unknown(words) for words in commands(f"```sh\n{line}\n```\n")]
    assert found
    assert " ".join(each for each in found if each) == names


def test_most_pages_with_blocks_have_commands_that_are_judged() -> None:
    judged = sum(1 for page in PAGES for _ in commands(page.read_text("utf-8")))
    assert judged > 50


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return dict(reference_pages())


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "docs"
    gather(folder, {})
    return folder


def test_every_page_stands_in_the_menu_once(made: dict[str, str]) -> None:
    pages = [*tracked("*.md"), *made]
    listed = [page for section in menu(pages) for page in section.pages]
    assert sorted(listed) == sorted(pages)


def test_what_people_look_for_first_has_a_heading_of_its_own(made: dict[str, str]) -> None:
    headings = {section.heading: section.pages for section in menu([*tracked("*.md"), *made])}
    assert headings["What it is"] == ("README.md",)
    assert "MIGRATING.md" in headings["From Kafka Connect"]
    assert "deploy/monitoring/RUNBOOK.md" in headings["Operations"]
    assert headings["Troubleshooting"] == ("reference/error-codes.md",)


def test_links_to_code_and_folders_lead_to_pages_that_show_them(gathered: Path) -> None:
    text = (gathered / "services/README.md").read_text("utf-8")
    assert "](offset/copycat_offset/domain/decide.py.md)" in text
    assert "](../libs/eventlog/README.md)" in text
    assert "](../importlinter.md)" in text
    assert (
        "def decide(" in (gathered / "services/scheduler/copycat_scheduler/domain/decide.py.md").read_text()
    )
    assert (gathered / "services/architecture.svg").is_file()


def test_blocks_of_code_stay_as_they_are() -> None:
    text = "one\n```sh\none\n```\none\n"
    assert outside_code(text, lambda part: part.replace("one", "two")) == "two\n```sh\none\n```\ntwo\n"


def test_the_reference_has_what_the_code_declares(made: dict[str, str]) -> None:
    assert "| `task.memory.max` |" in made["reference/worker-keys.md"]
    assert "## copycat migrate check" in made["reference/command-line.md"]
    assert "## /connectors/{name}/offsets" in made["reference/rest.md"]
    assert "| `migrate.unreadable` |" in made["reference/error-codes.md"]


@pytest.mark.timeout(240)
@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = build(tmp_path)
    assert code == 0, capsys.readouterr().err
    for page in ("index", "MIGRATING", "reference/worker-keys", "services/launcher/RUNNING"):
        assert (tmp_path / "site" / f"{page}.html").is_file()
