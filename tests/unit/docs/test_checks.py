"""The checks of `make lint` find what they are there for: words, class names, modules that are too short."""

from __future__ import annotations

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
