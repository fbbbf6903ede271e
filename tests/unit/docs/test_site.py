"""The documentation as a site: every page has its place, no link is lost, and it builds without a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.docs_site.__main__ import build, menu
from tools.docs_site.gathering import gather, outside_code, tracked
from tools.docs_site.reference import reference_pages


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
