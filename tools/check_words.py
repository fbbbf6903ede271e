"""Fail when a page is longer than people read at once, or a docstring or comment says what needs decoding."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README_LINES = 60
ARCHITECTURE_WORDS = 1200
DECISION_WORDS = 300
GLOSSARY_ENTRIES = 25
#: Lines of prose are wrapped; those of tables cannot be.
WIDTH = 130
ARCHITECTURE = "services/README.md"
GLOSSARY = "services/GLOSSARY.md"
DECISIONS = "tools/adr"

#: Their words come from elsewhere, or say what these phrases are.
LEFT_OUT = ("libs/contracts/", "tools/check_words.py", "tests/unit/test_checks.py")
#: What neither docstrings, comments nor the front pages and decisions say: "Take the limits.",
#: "addresses are none", "tells the cluster id".
PHRASES = re.compile(r"^Take\b(?! over\b)|\b(?:is|are) none\b|\btells?\b|\btold\b|\btelling\b")
COMMENT = re.compile(r"(?:^|  )\s*#:? (.*)$", re.MULTILINE)


def words(text: str) -> int:
    """Count the words of a page; bars and rules of tables are none of them."""
    return sum(1 for word in text.split() if re.search(r"\w", word))


def faults_of_page(name: str, text: str) -> Iterator[str]:
    """Yield what is too long or unclear about a page, or what its title lacks."""
    if name in {"README.md", "CONTRIBUTING.md", ARCHITECTURE, GLOSSARY} or name.startswith(f"{DECISIONS}/"):
        yield from (f"says {found[0]!r}: use the plain word" for found in PHRASES.finditer(text))
    if name == "README.md" and (lines := len(text.splitlines())) > README_LINES:
        yield f"{lines} lines, more than the {README_LINES} of one screen"
    elif name == ARCHITECTURE:
        yield from _faults_of_architecture(text)
    elif (
        name == GLOSSARY and (entries := len(re.findall(r"^\| ", text, re.MULTILINE)) - 2) > GLOSSARY_ENTRIES
    ):
        yield f"{entries} words, more than {GLOSSARY_ENTRIES}: use the field's word instead"
    elif decision := re.fullmatch(rf"{DECISIONS}/(\d{{4}})-[\w-]+\.md", name):
        yield from _faults_of_decision(int(decision[1]), text)


def _faults_of_architecture(text: str) -> Iterator[str]:
    if words(text) > ARCHITECTURE_WORDS:
        yield f"{words(text)} words, more than {ARCHITECTURE_WORDS}"
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > WIDTH and not line.startswith(("|", "!")):
            yield f"line {number} has {len(line)} characters, more than {WIDTH}: wrap it"


def _faults_of_decision(number: int, text: str) -> Iterator[str]:
    if words(text) > DECISION_WORDS:
        yield f"{words(text)} words, more than {DECISION_WORDS}: keep the decision and its figures"
    if not re.match(rf"# {number}\. \S+ \S+ \S+", text):
        yield f"its title is not '# {number}. ' and the decision as a sentence"


def faults_of_code(text: str) -> Iterator[str]:
    """Yield each line of a docstring, a field's included, and each comment that has one of the phrases."""
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            for line in node.value.value.splitlines():
                if found := PHRASES.search(line.strip()):
                    yield f"a docstring has {found[0]!r}: {line.strip()}"
    for comment in COMMENT.findall(text):
        if found := PHRASES.search(comment):
            yield f"a comment has {found[0]!r}: {comment}"


def main() -> int:
    """Name every fault of the pages and docstrings that git knows."""
    command = ["git", "ls-files", "*.md", "*.py"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.split() if (ROOT / name).is_file()]
    index = (ROOT / DECISIONS / "README.md").read_text("utf-8")
    failed = 0
    for name in names:
        for fault in _faults(name, (ROOT / name).read_text("utf-8"), index):
            print(f"{name}: {fault}")
            failed = 1
    return failed


def _faults(name: str, text: str, index: str) -> Iterator[str]:
    if name.endswith(".md"):
        yield from faults_of_page(name, text)
        if re.match(rf"{DECISIONS}/\d", name) and Path(name).name not in index:
            yield f"{DECISIONS}/README.md does not list it"
    elif not name.startswith(LEFT_OUT):
        yield from faults_of_code(text)


if __name__ == "__main__":
    sys.exit(main())
