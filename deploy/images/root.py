"""Put together the root of a container that runs Python, or Python and Java, and nothing else.

`python3 root.py ROOT ENVIRONMENT [JAVA]`, while an image is built: the interpreter with its library, what
shared libraries need, a shell for the commands of images, what names, zones and certificates are looked up
in, and for Java the programs that Spark and Hadoop call. There is no package manager.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

PROGRAMS: Final = ("sh", "cat", "ls")
#: Hadoop's file systems and Spark's launchers call these, or look whether they are there.
BESIDE_JAVA: Final = (
    *("bash", "chmod", "df", "dirname", "du", "env", "head", "hostname", "id", "ln", "mkdir"),
    *("readlink", "rm", "sed", "setsid", "stat"),
)
FILES: Final = (
    *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/os-release", "/usr/lib/os-release"),
    *("/etc/ssl", "/usr/lib/ssl", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates"),
    *("/etc/ld.so.conf", "/etc/ld.so.conf.d", "/usr/share/zoneinfo"),
)
#: Below the standard library: what nobody runs in a service.
UNUSED: Final = (
    *("test", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3", "pydoc_data"),
    *("site-packages", "dist-packages"),
)


def main() -> int:
    """Copy it all; links stay links, and lead to what was copied too."""
    root, *environments = map(Path, sys.argv[1:])
    library = Path(sysconfig.get_paths()["stdlib"])
    interpreter = Path(sys.executable)
    for directory in (
        "usr/bin",
        "usr/sbin",
        "usr/lib",
        "usr/lib64",
        "tmp",
        "proc",
        "sys",
        "dev",
        "run",
        "var/tmp",
    ):
        (root / directory).mkdir(parents=True, exist_ok=True)
    for name in ("bin", "sbin", "lib", "lib64"):  # where Debian keeps them since 12
        if Path(f"/{name}").is_symlink():
            (root / name).symlink_to(f"usr/{name}")
    shutil.copytree(
        library,
        root / library.relative_to("/"),
        symlinks=True,
        ignore=shutil.ignore_patterns(*UNUSED),
        dirs_exist_ok=True,
    )
    for place in FILES:
        _copy(Path(place), root)
    called = [*PROGRAMS, *(BESIDE_JAVA if len(environments) > 1 else ())]
    programs = [
        *(interpreter, Path("/usr/bin/python3"), Path("/usr/local/bin/python3")),
        *(Path(shutil.which(name) or name) for name in called),
    ]
    for program in programs:
        _copy(program, root)
    binaries = [each.resolve() for each in programs if each.exists()]
    shared = [
        *library.rglob("*.so"),
        *(file for environment in environments for file in environment.rglob("*.so*")),
    ]
    for needed in _needed([*binaries, *shared], environments):
        _copy(needed, root)
    for directory in ("tmp", "var/tmp"):
        (root / directory).chmod(0o1777)
    return 0


def _needed(files: Iterable[Path], environments: Sequence[Path]) -> Iterator[Path]:
    """Yield the system's libraries that files are linked with."""
    own = tuple(map(str, environments))
    found: set[str] = set()
    for file in files:
        said = subprocess.run(["/usr/bin/ldd", str(file)], capture_output=True, text=True, check=False).stdout
        for line in said.splitlines():
            path = line.rpartition("=>")[2].strip().split(" (")[0]
            if path.startswith("/") and not path.startswith(own):
                found.add(path)
    yield from map(Path, sorted(found))


def _copy(path: Path, root: Path) -> None:
    """Copy a file or folder to the same place, and what it links to."""
    if not path.exists():
        return
    target = root / Path(os.path.realpath(path.parent)).relative_to("/") / path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() or target.is_symlink():
        return
    if path.is_symlink():
        target.symlink_to(path.readlink())
        _copy((path.parent / path.readlink()), root)
    elif path.is_dir():
        shutil.copytree(path, target, symlinks=True)
    else:
        shutil.copy2(path, target)


if __name__ == "__main__":
    sys.exit(main())
