"""The commands on the pages are ones there are: subcommands, options, targets, modules and routes."""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from copycat_gateway.access.authorisation import NEEDS
from copycat_launcher.main import copycat, copycat_worker

from tests.unit.docs.test_pages import PAGES, ROOT

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
