"""The page "A connector in one page": its files, commands and requests, as a reader would use them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import httpx2
import pytest
from copycat_testkit.kafka import consume_all, wait_until
from copycat_testkit.scratch_environment import ScratchEnvironment
from copycat_testkit.system import CopycatUp, names

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[3] / "libs/connect/WRITING_A_CONNECTOR.md"
BLOCK = re.compile(r"^```(\w+)[ ]?([\w.]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WAIT_SECONDS = 120
PAGE_FOLDER = "/tmp/"  # noqa: S108 - what the page says, replaced by the folder of the test


def blocks(kind: str) -> list[tuple[str, str]]:
    """Return the blocks of a language, each with the file name beside it, which may be empty."""
    found = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return [(name, text) for language, name, text in found if language == kind]


def requests(url: str, folder: Path) -> list[tuple[str, str, str | None]]:
    """Return the page's curl commands as method, URL and body, for this system and this folder."""
    text = "\n".join(block for _, block in blocks("sh"))
    sent = []
    for command in re.split(r"^(?=curl)", text, flags=re.MULTILINE)[1:]:
        words = shlex.split(command)
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        body = words[words.index("-d") + 1].replace(PAGE_FOLDER, f"{folder}/") if "-d" in words else None
        address = next(word for word in words if word.startswith("http://"))
        sent.append((method, address.replace("http://127.0.0.1:8083", url), body))
    return sent


def without_chance(tree: Any) -> str:
    """Return a status as text, without the port, the times and the generations of this run."""
    text = re.sub(r"127\.0\.0\.1:\d+", "WORKER", json.dumps(tree))
    return re.sub(r'"since": "[-\d:.TZ]+", "generation": \d+', "SINCE", text)


def runs(url: str) -> Any:
    status = httpx2.get(url).json()
    states = [each["state"] for each in (status.get("connector", {"state": ""}), *status.get("tasks", ()))]
    assert "FAILED" not in states, httpx2.get(url).text
    return status if states == ["RUNNING", "RUNNING"] else None


@pytest.mark.timeout(420)
def test_the_page_leads_from_nothing_to_records_in_the_topic(
    kafka: str, environment: ScratchEnvironment, tmp_path: Path
) -> None:
    package = tmp_path / "load-connector"
    package.mkdir()
    for name, text in (*blocks("python"), *blocks("toml")):
        if name:  # the others are lines that another file would have
            (package / name).write_text(text, encoding="utf-8")
    added = environment.run("plugins", "add", package)
    shown, lines = (text for _, text in blocks("text"))
    assert added.stdout + added.stderr == shown

    group = (f"{key}={value}" for key, value in names("the-page").items())
    options = [word for pair in group for word in ("--set", pair)]
    with CopycatUp(tmp_path / "data", kafka, options=options, program=environment.copycat) as system:
        *made, (_, status, _) = requests(system.url, tmp_path)
        for method, url, body in made:
            answer = httpx2.request(
                method, url, content=body, headers={"Content-Type": "application/json"}, timeout=WAIT_SECONDS
            )
            assert answer.status_code == 201, answer.text
        running = wait_until(lambda: runs(status), WAIT_SECONDS, "the page's connector runs")
        ((_, answered),) = blocks("json")
        assert without_chance(running) == without_chance(json.loads(answered))
        file = tmp_path / "load.txt"
        wait_until(
            lambda: file.exists() and len(file.read_text().splitlines()) >= 3, WAIT_SECONDS, "three records"
        )

    in_topic = [json.loads(message.value() or b"") for message in consume_all(kafka, "load")]
    assert [record["number"] for record in in_topic] == list(range(1, len(in_topic) + 1))
    assert all(round(record["load"], 1) == record["load"] for record in in_topic)
    shape = re.sub(r"\d\.\d", "N", lines).splitlines()
    assert [re.sub(r"\d+\.\d", "N", line) for line in file.read_text().splitlines()[:3]] == shape
