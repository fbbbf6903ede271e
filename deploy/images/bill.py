"""Say which of Debian's packages an image is made of: to scanners, and in its bill of materials.

`python3 bill.py ROOT BILL [JAVA]`, while an image is built, after root.py. An image has no dpkg, so scanners
would find nothing of Debian's in it and call it clean. They read the records of single packages in
`var/lib/dpkg/status.d`, as images without a distribution have them; the bill (CycloneDX) gets the same.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

DATABASE: Final = Path("/var/lib/dpkg/info")
RECORDS: Final = Path("var/lib/dpkg/status.d")
BILL: Final = Path("opt/copycat/sbom.json")
#: Where a Java runtime that was made elsewhere keeps the record of the package it was made of.
OF_JAVA: Final = "debian-package"

Record = dict[str, str]


def main() -> int:
    """Write the records, and the bill with them."""
    root, bill, *java = map(Path, sys.argv[1:])
    texts = [said for said in map(_record, sorted(set(_owners(root)))) if said]
    texts += [(each / OF_JAVA).read_text("utf-8") for each in java if (each / OF_JAVA).is_file()]
    (root / RECORDS).mkdir(parents=True, exist_ok=True)
    records = [parsed(text) for text in texts]
    for record, text in zip(records, texts, strict=True):
        (root / RECORDS / record["Package"]).write_text(text, encoding="utf-8")
    content = json.loads(bill.read_text("utf-8"))
    parts = [*content.get("components", ()), *map(component, records)]
    if not any(record["Package"].startswith("python3") for record in records):
        parts.append(interpreter())
    content["components"] = parts
    (root / BILL).parent.mkdir(parents=True, exist_ok=True)
    (root / BILL).write_text(json.dumps(content, indent=2), encoding="utf-8")
    return 0


def parsed(text: str) -> Record:
    """Return the fields of a package's record that have one line."""
    lines = (line.partition(": ") for line in text.splitlines() if not line.startswith(" "))
    return {name: value.strip() for name, _, value in lines}


def component(record: Record) -> dict[str, str]:
    """Return a package as the bill lists it."""
    name, version = record["Package"], record["Version"]
    place = f"pkg:deb/debian/{name}@{version.replace(':', '%3A').replace('+', '%2B')}"
    where = f"{place}?arch={record['Architecture']}"
    return {"type": "library", "bom-ref": where, "name": name, "version": version, "purl": where}


def interpreter() -> dict[str, str]:
    """Return Python as the bill lists it, where it is not one of Debian's."""
    version = platform.python_version()
    where = f"pkg:generic/python@{version}"
    return {"type": "application", "bom-ref": where, "name": "python", "version": version, "purl": where}


def _owners(root: Path) -> Iterator[str]:
    """Yield the packages that the files below a root were copied from."""
    owner = {
        _resolved(Path(line)): listing.name.removesuffix(".list")
        for listing in DATABASE.glob("*.list")
        for line in listing.read_text("utf-8").splitlines()
    }
    for file in root.rglob("*"):
        path = "/" / file.relative_to(root)
        if path in owner and (file.is_symlink() or file.is_file()):
            yield owner[path]


def _resolved(path: Path) -> Path:
    """Return a path as root.py copies it: what leads through a link stands where the link leads to."""
    return Path(os.path.realpath(path.parent)) / path.name


def _record(package: str) -> str:
    return subprocess.run(
        ["/usr/bin/dpkg-query", "--status", package], capture_output=True, text=True, check=False
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
