"""`make breaking` compares with the released contracts, and fails when a caller of those would break."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CONFIG_SERVICE = Path("proto/copycat/config/v1/config_service.proto")


@pytest.fixture
def contracts(tmp_path: Path) -> Path:
    """Copy the contracts, to be changed."""
    shutil.copytree(ROOT / "proto", tmp_path / "proto")
    shutil.copy(ROOT / "buf.yaml", tmp_path)
    return tmp_path


def breaking(contracts: Path) -> subprocess.CompletedProcess[str]:
    """Run the comparison that the Makefile names."""
    command = re.search(
        r"^\t@\$\(VENV\)/(buf breaking .*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    assert command is not None
    against = re.search(r"^RELEASED_CONTRACTS := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert against is not None
    words = command[1].replace("$(RELEASED_CONTRACTS)", against[1]).split()
    buf = Path(sys.executable).parent / words[0]
    return subprocess.run([buf, *words[1:]], cwd=contracts, capture_output=True, text=True, check=False)


def change(contracts: Path, old: str, new: str) -> None:
    file = contracts / CONFIG_SERVICE
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_todays_contracts_keep_the_released_ones(contracts: Path) -> None:
    answer = breaking(contracts)

    assert (answer.returncode, answer.stdout + answer.stderr) == (0, "")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("  int32 task_generation = 7;", "", 'Previously present field "7"'),
        ("  int32 task_generation = 7;", "  string task_generation = 7;", "changed type"),
        ("  int32 task_generation = 7;", "  int32 generation = 7;", "changed name"),
        ("  rpc RequestRestart(", "  rpc AskRestart(", 'Previously present RPC "RequestRestart"'),
    ],
    ids=["a field removed", "its type changed", "its name changed", "a call renamed"],
)
def test_a_contract_that_breaks_released_callers_is_refused(
    contracts: Path, old: str, new: str, complaint: str
) -> None:
    change(contracts, old, new)

    answer = breaking(contracts)

    assert answer.returncode != 0
    assert complaint in answer.stdout


def test_a_new_field_is_welcome(contracts: Path) -> None:
    change(
        contracts,
        "  int32 task_generation = 7;",
        "  int32 task_generation = 7;\n  // New.\n  int32 added = 8000;",
    )

    assert breaking(contracts).returncode == 0
