"""Fail when more public class names than before exist in more than one module: a name says one thing."""

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Names that are repeated today, of facts and of what clients or REST show of them. It only falls.
MAX_REPEATED = 18


def public_classes(text: str) -> set[str]:
    """Return the names of the public classes of a module, not of those inside others."""
    return {
        node.name
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    }


def repeated(modules: Iterable[tuple[str, str]]) -> Mapping[str, list[str]]:
    """Return the modules of each name that several have, given the name and the text of each module."""
    places: dict[str, list[str]] = defaultdict(list)
    for name, text in modules:
        for each in public_classes(text):
            places[each].append(name)
    return {each: found for each, found in sorted(places.items()) if len(found) > 1}


def main() -> int:
    """Compare the number of repeated names of the packages with the limit."""
    listed = subprocess.run(
        ["git", "ls-files", "libs/*.py", "services/*.py"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.split() if not name.startswith("libs/contracts/")]
    found = repeated(
        (str(path.relative_to(ROOT)), path.read_text("utf-8")) for path in paths if path.is_file()
    )
    if "--list" in sys.argv or len(found) > MAX_REPEATED:
        for name, places in found.items():
            print(f"{name}: {', '.join(places)}")
    if len(found) > MAX_REPEATED:
        print(f"{len(found)} class names exist more than once, more than {MAX_REPEATED}: find another one")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
