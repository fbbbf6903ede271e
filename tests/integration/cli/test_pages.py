"""The shell sessions of the pages, typed as a reader would: they say what the pages say they do."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_testkit.commands import COPYCAT

from tests.integration.cli.conftest import COMMAND_SECONDS, Shell

pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What differs from one run to the next: the port of a worker, and how wide the table is by it.
CHANCE = re.compile(r"127\.0\.0\.1:\d+")


def block(page: str, has: str) -> str:
    """Return the one block of a page that has this text."""
    found: list[str] = [each for each in BLOCK.findall((ROOT / page).read_text("utf-8")) if has in each]
    [one] = found
    return one


def typed(copycat: Shell, commands: str, **environment: str) -> str:
    """Run lines of a page in the folder of the test, and return what they said."""
    here = commands.replace("/tmp/", f"{copycat.folder}/").replace(".venv/bin/", "")  # noqa: S108, the page's
    here = here.replace("http://127.0.0.1:8083", copycat.url)
    done = subprocess.run(
        ["bash", "-c", here],
        cwd=copycat.folder,
        env={
            **os.environ,
            "COPYCAT_URL": copycat.url,
            "PATH": f"{COPYCAT.parent}:{os.environ['PATH']}",
            "COLUMNS": "160",
            **environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
        timeout=COMMAND_SECONDS,
    )
    return done.stdout


@pytest.fixture(autouse=True)
def _nothing_stays(copycat: Shell) -> Iterator[None]:
    yield
    copycat("delete lines --yes")


def words(text: str) -> list[list[str]]:
    """Return the words of the lines of an answer, without what is chance."""
    return [CHANCE.sub("WORKER", line).split() for line in text.splitlines() if line.strip()]


def shows(said: str, lines: list[list[str]]) -> bool:
    """Say whether an answer has all these lines in order; advice may stand between them."""
    rest = iter(words(said))
    return all(line in rest for line in lines)


@pytest.mark.row("K26-12")
def test_the_five_lines_of_the_readme_make_a_running_connector(copycat: Shell) -> None:
    lines = block("README.md", "copycat up").splitlines()
    [start] = [number for number, line in enumerate(lines) if "copycat up" in line]
    said = typed(copycat, "set -e\n" + "\n".join(lines[start + 1 :]))
    assert shows(
        said,
        [
            ["lines", "created"],
            ["CONNECTOR", "INSTANCE", "STATE", "WORKER", "WHY"],
            ["lines", "connector", "RUNNING", "WORKER"],
            ["lines", "task", "0", "RUNNING", "WORKER"],
        ],
    ), said


@pytest.mark.long
def test_the_session_of_the_command_lines_page_is_what_one_sees(copycat: Shell) -> None:
    (copycat.folder / "in.txt").write_text("hello\n")
    session = re.findall(
        r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block("services/cli/README.md", "copycat edit"), re.MULTILINE
    )
    assert len(session) == 7
    for command, shown in session:
        said = typed(copycat, command.replace("delete lines", "delete lines --yes"), EDITOR="true")
        assert shows(said, words(shown)), said
        assert not re.search(r"^copycat[\w ]*: (?!The configuration of lines)", said, re.MULTILINE), said
    assert "lines" not in copycat("list -o json").tree


@pytest.mark.long
def test_the_first_questions_of_the_runbook_are_answered(copycat: Shell) -> None:
    (copycat.folder / "in.txt").write_text("hello\n")
    typed(copycat, block("README.md", "copycat up").partition("copycat up")[2].partition("\n")[2])
    questions = block("deploy/monitoring/RUNBOOK.md", "copycat describe NAME").replace("NAME", "lines")
    for question in questions.splitlines():
        answer = typed(copycat, f"set -e\n{question}\necho; echo done")
        assert answer.endswith("done\n"), answer
        assert "healthy" in answer if "health" in question else "lines" in answer, question
