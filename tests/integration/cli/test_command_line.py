"""The real `copycat` executable against one running system: a connector's life, the sessions of the pages."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from copycat_testkit.commands import COPYCAT
from copycat_testkit.kafka import wait_until
from copycat_testkit.system import CopycatUp

from tests.plain_hosts import on_plain_hosts

pytestmark = pytest.mark.timeout(300)

COMMAND_SECONDS = 100.0


@dataclass(frozen=True)
class Ended:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def tree(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


class Shell:
    """Types commands, as a user with COPYCAT_URL set; what they leave is in the folder."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder

    def __call__(self, line: str, *, said: str = "", **environment: str) -> Ended:
        """Run `copycat` with the words of a line; its streams are pipes."""
        done = subprocess.run(
            [COPYCAT, *shlex.split(line)],
            input=said,
            check=False,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            cwd=self.folder,
            env=self._environment(environment),
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def begin(self, line: str) -> subprocess.Popen[str]:
        """Start a command that does not end by itself."""
        return subprocess.Popen(
            [COPYCAT, *shlex.split(line)], stdout=subprocess.PIPE, text=True, env=self._environment({})
        )

    def on_terminal(self, line: str, *, typed: str = "", **environment: str) -> Ended:
        """Run it on a terminal where the user has typed ahead; `out` is what the terminal showed."""
        ours, theirs = pty.openpty()
        os.write(ours, typed.encode())
        process = subprocess.Popen(
            [COPYCAT, *shlex.split(line)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=self.folder,
            env=self._environment({"COLUMNS": "160", "TERM": "xterm", **environment}),
        )
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # the terminal is gone once the command has ended
            while part := os.read(ours, 65536):
                shown += part
        os.close(ours)
        return Ended(process.wait(COMMAND_SECONDS), shown.decode(), "")

    def _environment(self, more: dict[str, str]) -> dict[str, str]:
        kept = {
            key: value for key, value in os.environ.items() if key not in {"VISUAL", "EDITOR", "NO_COLOR"}
        }
        return {**kept, "COPYCAT_URL": self.url, "TMPDIR": str(self.folder), **more}


@pytest.fixture(scope="module")
def copycat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    folder = tmp_path_factory.mktemp("cli")
    options = ("--set", "offset.flush.interval.ms=500")
    with CopycatUp(folder / "data", options=options, environment=on_plain_hosts()) as system:
        yield Shell(system.url, folder)


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


@pytest.fixture
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


@pytest.mark.usefixtures("_nothing_stays")
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


@pytest.mark.usefixtures("_nothing_stays")
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


@pytest.mark.usefixtures("_nothing_stays")
@pytest.mark.long
def test_the_first_questions_of_the_runbook_are_answered(copycat: Shell) -> None:
    (copycat.folder / "in.txt").write_text("hello\n")
    typed(copycat, block("README.md", "copycat up").partition("copycat up")[2].partition("\n")[2])
    questions = block("deploy/monitoring/RUNBOOK.md", "copycat describe NAME").replace("NAME", "lines")
    for question in questions.splitlines():
        answer = typed(copycat, f"set -e\n{question}\necho; echo done")
        assert answer.endswith("done\n"), answer
        assert "healthy" in answer if "health" in question else "lines" in answer, question


def a_source(copycat: Shell, name: str, **more: str) -> Path:
    """Write the file of a file source, and two lines for it to read."""
    text = copycat.folder / f"{name}.txt"
    text.write_text("one\ntwo\n")
    config = {"name": name, "connector.class": "FileStreamSource", "file": str(text), "topic": name, **more}
    file = copycat.folder / f"{name}.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in config.items()))
    return file


@pytest.mark.long
def test_a_connector_is_made_broken_mended_and_deleted(copycat: Shell) -> None:
    file = a_source(copycat, "lines")
    made = copycat("apply lines.properties")
    assert (made.code, made.out) == (0, "lines created\n"), made.err
    runs = copycat("status lines --wait-for RUNNING")
    assert runs.code == 0, runs.err
    assert runs.out.splitlines()[0].split() == ["CONNECTOR", "INSTANCE", "STATE", "WORKER", "WHY"]
    assert copycat("diff lines.properties").code == 0

    broken = copycat("edit lines", EDITOR=f"sed -i s#^file=.*#file={copycat.folder}#")
    assert (broken.code, f"~  file  {file.with_suffix('.txt')}  {copycat.folder}" in broken.out) == (0, True)
    failed = copycat("status lines --wait-for FAILED")
    assert (failed.code, "it is a directory" in failed.out) == (0, True), failed
    assert copycat("status lines").code == 1
    gave_up = copycat("status lines --wait-for RUNNING")
    assert (gave_up.code, "it is a directory" in gave_up.err) == (1, True), gave_up
    assert "Why task 0 is FAILED" in copycat("describe lines").out
    assert copycat("diff lines.properties").code == 1

    mended = copycat("apply lines.properties -o json")
    assert [change["key"] for change in mended.tree[0]["changes"]] == ["file"]
    wait_until(lambda: copycat("status lines --wait-for RUNNING").code == 0, 60, "the mended task")
    assert copycat("apply lines.properties").out == "lines unchanged\n"

    deleted = copycat("delete lines", said="y\n")
    assert (deleted.code, deleted.out) == (0, "lines deleted; its topics and offsets stay\n")
    assert copycat("describe lines").code == 3
    assert "lines" not in copycat("list -o json").tree


@pytest.mark.long
def test_an_invalid_configuration_changes_nothing(copycat: Shell) -> None:
    a_source(copycat, "checked")
    assert copycat("apply checked.properties").code == 0
    refused = copycat("edit checked", EDITOR="sed -i s/^topic=.*/topci=checked/")
    assert refused.code == 4
    assert "topic: Missing required configuration" in refused.err
    assert "did you mean topic?" in refused.err
    assert copycat("diff checked.properties").code == 0
    a_source(copycat, "checked", **{"tasks.max": "none"})
    assert copycat("validate checked.properties -o json").tree["errors"].keys() == {"tasks.max"}
    assert copycat("apply checked.properties").code == 4
    assert copycat("delete checked --yes").code == 0


@pytest.mark.long
def test_on_a_terminal_an_invalid_edit_is_offered_again_with_the_reasons(copycat: Shell) -> None:
    a_source(copycat, "mended")
    assert copycat("apply mended.properties").code == 0
    editor = copycat.folder / "editor.sh"
    # At first it breaks the configuration; where the reasons stand above it, it mends it.
    editor.write_text(
        "if grep -q '^# .*Not a number' $1; then sed -i s/tasks.max=none/tasks.max=2/ $1; "
        "else echo tasks.max=none >> $1; fi\n"
    )
    edited = copycat.on_terminal("edit mended", typed="y\n", EDITOR=f"sh {editor}")
    assert edited.code == 0, edited.out
    assert "Not a number of type INT" in edited.out
    assert copycat("describe mended -o json").tree["config"]["tasks.max"] == "2"
    assert copycat("delete mended --yes").code == 0


@pytest.mark.long
def test_offsets_and_topics_are_shown_and_set_back(copycat: Shell) -> None:
    a_source(copycat, "positions")
    assert copycat("apply positions.properties").code == 0

    def position() -> int:
        entries = copycat("offsets get positions -o json").tree["offsets"]
        return int(entries[0]["offset"]["position"]) if entries else 0

    wait_until(lambda: position() == len("one\ntwo\n"), 60, "a committed position")
    assert copycat("topics get positions").out == "TOPIC\npositions\n"
    running = copycat("offsets reset positions --yes")
    assert (running.code, "copycat stop positions" in running.err) == (4, True)
    assert copycat("stop positions").code == 0
    assert copycat("status positions --wait-for STOPPED").code == 0
    shown = copycat("offsets get positions -o json")
    altered = shown.tree
    altered["offsets"][0]["offset"]["position"] = len("one\n")
    assert copycat("offsets alter positions - --yes", said=json.dumps(altered)).code == 0
    assert position() == len("one\n")
    assert copycat("offsets reset positions --yes").code == 0
    assert copycat("offsets get positions").out == "positions has no offsets yet.\n"
    assert copycat("topics reset positions").code == 0
    assert copycat("topics get positions -o json").tree["topics"] == []
    assert copycat("delete positions -y").code == 0


@pytest.mark.long
def test_it_is_paused_resumed_and_restarted(copycat: Shell) -> None:
    a_source(copycat, "orders")
    text = copycat("create orders.properties -o json")
    assert text.tree == [{"name": "orders", "result": "created", "changes": [], "notes": []}]
    assert copycat("create orders.properties").code == 4
    for order, state in (("pause", "PAUSED"), ("resume", "RUNNING")):
        assert copycat(f"{order} orders").code == 0
        waited = copycat(f"status orders --wait-for {state} -o json")
        assert waited.tree[0]["connector"]["state"] == state
    for restart in ("restart orders", "restart orders --task 0", "restart orders --include-tasks"):
        done = copycat(restart)
        assert done.code == 0, done.err
    assert copycat("status orders --wait-for RUNNING").code == 0
    assert copycat("restart orders --task 7").code == 3
    copy = copycat("describe orders -o json").out
    assert copycat("apply -", said=copy).out == "orders unchanged\n"
    assert copycat("delete orders --yes").code == 0


@pytest.mark.long
def test_the_cluster_tells_its_plugins_workers_and_log_levels(copycat: Shell) -> None:
    assert {"FileStreamSource", "FileStreamSink"} <= {
        line.split()[0] for line in copycat("plugins").out.splitlines()
    }
    keys = copycat("plugins FileStreamSource -o json").tree
    assert {key["name"] for key in keys if key["required"]} >= {"topic", "name", "connector.class"}
    [worker] = copycat("workers -o json").tree
    assert not worker["leaving"]
    assert copycat("logs level copycat_gateway DEBUG --scope cluster").code == 0
    level = wait_until(lambda: copycat("logs level copycat_gateway -o json").tree, 20)
    assert level["copycat_gateway"]["level"] == "DEBUG"


@pytest.mark.long
def test_names_are_completed_by_the_executable_itself(copycat: Shell) -> None:
    a_source(copycat, "completed")
    assert copycat("apply completed.properties").code == 0
    shell = {"_COPYCAT_COMPLETE": "bash_complete", "COMP_WORDS": "copycat describe comp", "COMP_CWORD": "2"}
    assert copycat("", **shell).out == "plain,completed\n"
    assert copycat("delete completed --yes").code == 0


@pytest.mark.long
def test_a_watch_goes_on_until_ctrl_c(copycat: Shell) -> None:
    a_source(copycat, "watched")
    assert copycat("apply watched.properties").code == 0
    with copycat.begin("status watched --watch --interval 0.2") as watch:
        assert watch.stdout is not None
        assert watch.stdout.readline().startswith("CONNECTOR")
        assert copycat("pause watched").code == 0
        assert any(" PAUSED " in line for line in iter(watch.stdout.readline, ""))
        watch.send_signal(signal.SIGINT)
        assert watch.wait(60) == 0
    assert copycat("delete watched --yes").code == 0


@pytest.mark.long
def test_a_terminal_is_shown_coloured_tables(copycat: Shell) -> None:
    a_source(copycat, "seen")
    assert copycat("apply seen.properties").code == 0
    waited = copycat.on_terminal("status seen --wait-for RUNNING")
    assert waited.code == 0
    assert "\x1b[32mRUNNING" in waited.out
    assert "──" in waited.out
    assert copycat("delete seen --yes").code == 0


@pytest.mark.long
def test_at_a_terminal_a_change_of_offsets_is_shown_and_asked_for(copycat: Shell) -> None:
    a_source(copycat, "asked")
    assert copycat("apply asked.properties").code == 0
    wait_until(lambda: copycat("offsets get asked -o json").tree["offsets"], 60, "its offsets")
    assert copycat("stop asked").code == 0
    assert copycat("status asked --wait-for STOPPED").code == 0

    declined = copycat.on_terminal("offsets reset asked", typed="n\n")
    assert (declined.code, "Nothing was changed." in declined.out) == (1, True)
    assert "repeats at most 2 lines" in declined.out
    assert copycat("offsets get asked -o json").tree["offsets"]

    accepted = copycat.on_terminal("offsets reset asked", typed="y\n")
    assert accepted.code == 0, accepted.out
    assert "──" in accepted.out
    assert copycat("offsets get asked -o json").tree["offsets"] == []
    assert copycat("offsets undo asked").code == 2
    assert copycat("offsets undo asked --yes").code == 0
    assert copycat("offsets get asked -o json").tree["offsets"]
    assert copycat("delete asked --yes").code == 0
