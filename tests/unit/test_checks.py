"""The checks of `make check` find what they are there for: words, names, sizes, imports, contracts."""

from __future__ import annotations

import ast
import configparser
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

from tools.check_names import repeated
from tools.check_size import splinters
from tools.check_words import LEFT_OUT, ROOT, faults_of_code, faults_of_page

DECISION = "# 7. Hosts keep idle tasks\n"


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("README.md", "line\n" * 61, "61 lines"),
        ("services/README.md", "word " * 1201, "1201 words"),
        ("services/README.md", "one\n" + "a" * 131 + "\n", "line 2 has 131 characters"),
        ("services/GLOSSARY.md", "| word | meaning |\n| --- | --- |\n" + "| a | b |\n" * 26, "26 words"),
        ("tools/adr/0007-hosts.md", DECISION + "word " * 300, "more than 300"),
        ("tools/adr/0007-hosts.md", "# 8. Hosts keep idle tasks\n", "its title"),
        ("tools/adr/0007-hosts.md", "# 7. Hosts\n", "its title"),
        ("tools/adr/0007-hosts.md", DECISION + "Hosts are told so.\n", "says 'told'"),
    ],
)
def test_a_page_that_is_too_long_or_has_no_title_is_named(name: str, text: str, fault: str) -> None:
    assert any(fault in found for found in faults_of_page(name, text))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", "line\n" * 60),
        ("services/README.md", "| " + "a" * 200 + " |\n"),
        ("services/GLOSSARY.md", "| word | meaning |\n| --- | --- |\n" + "| a | b |\n" * 25),
        ("tools/adr/0007-hosts.md", DECISION + "| - |\n" * 300),
        ("tools/adr/README.md", "word " * 2000),
    ],
)
def test_a_page_within_its_limits_passes(name: str, text: str) -> None:
    assert not list(faults_of_page(name, text))


@pytest.mark.parametrize(
    "said",
    ["Take the limits.", "Its addresses are none.", "Return what was told.", "One.\n\nIt tells why."],
)
def test_a_docstring_with_a_banned_phrase_is_named(said: str) -> None:
    assert list(faults_of_code(f'def one():\n    """{said}"""\n'))


@pytest.mark.parametrize(
    "code",
    ["#: What it was told.\nTEXT = ''\n", "one()  # there is none\n", 'TEXT = ""\n"""Take it."""\n'],
)
def test_a_comment_or_the_docstring_of_a_field_is_named_too(code: str) -> None:
    assert list(faults_of_code(code))


def test_other_docstrings_and_texts_in_code_pass() -> None:
    assert not list(faults_of_code('"""Return the limits."""\nTEXT = "Take it as told."\n'))


def test_what_is_left_out_is_there() -> None:
    assert not [name for name in LEFT_OUT if not (ROOT / name).exists()]


def test_a_name_is_repeated_where_several_modules_have_it_in_public() -> None:
    modules = [
        ("a.py", "class Health: ...\nclass _Own: ...\nclass Outer:\n    class Inner: ...\n"),
        ("b.py", "class Health: ...\nclass _Own: ...\nclass Inner: ...\n"),
        ("c.py", "class Other: ...\n"),
    ]

    assert repeated(modules) == {"Health": ["a.py", "b.py"]}


def test_a_short_module_that_one_neighbour_alone_imports_is_found() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in (
        ("a.room.door", "a.room.hinge"),
        ("a.room.door", "a.room.frame"),
        ("a.room.window", "a.room.frame"),
        ("a.house", "a.room.window"),
        ("a.room.door", "a.room.settings"),
        ("a.room.door", "a.room.wall"),
    ):
        graph.add_import(importer=importer, imported=imported)
    lines = dict.fromkeys(graph.modules, 20) | {"a.room.wall": 80}

    assert list(splinters(graph, lines)) == [("a.room.hinge", "a.room.door")]


#: Tests' own, and generated: no contracts of their own.
NOT_THE_PRODUCT = frozenset({"copycat_testkit"})
CONTRACTS = configparser.ConfigParser()
CONTRACTS.read(ROOT / ".importlinter")


def entries(section: str, key: str) -> list[str]:
    """Return the lines of a list in the contracts."""
    return CONTRACTS[section].get(key, "").split()


def product() -> dict[str, Path]:
    """Return the packages of the product with their folders."""
    folders = (*ROOT.glob("libs/*/copycat_*"), *ROOT.glob("services/*/copycat_*"))
    return {folder.name: folder for folder in folders if folder.name not in NOT_THE_PRODUCT}


def imported(file: Path) -> Iterator[str]:
    """Yield the top packages that a file imports."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_the_contracts_know_every_package() -> None:
    assert set(entries("importlinter", "root_packages")) == set(product())


def test_every_library_that_the_product_imports_has_its_place() -> None:
    placed = {
        library
        for section in CONTRACTS.sections()
        if CONTRACTS[section].get("type") == "protected"
        for library in entries(section, "protected_modules")
    }
    ours = {"copycat", *product(), *sys.stdlib_module_names}
    used: dict[str, str] = {}
    for folder in product().values():
        for file in folder.rglob("*.py"):
            for library in imported(file):
                used.setdefault(library, str(file.relative_to(ROOT)))
    assert not {library: where for library, where in used.items() if library not in placed | ours}


def test_no_package_of_the_product_may_import_in_a_circle() -> None:
    (section,) = (name for name in CONTRACTS.sections() if CONTRACTS[name].get("type") == "acyclic_siblings")
    assert set(entries(section, "ancestors")) == set(product())


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
