"""Installs into the Python environment that runs this program, by uv."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

from copycat_cli.errors import PluginPackageError
from copycat_cli.packages.source import Source

INSTALL_TIMEOUT_SECONDS = 900.0
SHOWN_LINES = 30


class InstallError(PluginPackageError):
    """The installer refused or failed; nothing was changed."""


class Installer:
    """uv, working on one environment."""

    def __init__(self) -> None:
        """Find uv.

        Raises:
            PluginPackageError: It was not found.
        """
        self._uv = _find_uv()

    def install(self, source: Source, fixed: Mapping[str, str], *, offline: bool = False) -> None:
        """Install a package with all it needs, all of it or nothing.

        Args:
            source: What to install; when it is there already it is brought up to date.
            fixed: The packages that keep their versions, and these.
            offline: Use only what was downloaded before.

        Raises:
            InstallError: It cannot be had, cannot be built, or needs another version of a fixed package.
        """
        with tempfile.TemporaryDirectory(prefix="copycat-plugins-") as folder:
            constraints = Path(folder) / "versions-of-copycat.txt"
            constraints.write_text("".join(f"{name}=={version}\n" for name, version in fixed.items()))
            self._run(
                "install",
                *(("--offline",) if offline else ()),
                *("--constraints", str(constraints), "--reinstall-package", source.name),
                *("--upgrade-package", source.name, *source.arguments),
            )

    def uninstall(self, names: Collection[str]) -> None:
        """Remove packages; those that are not there do not matter."""
        if names:
            self._run("uninstall", *sorted(names))

    def _run(self, command: str, *arguments: str) -> None:
        whole = [str(self._uv), "pip", command, "--python", sys.executable, *arguments]
        done = subprocess.run(  # the installer, with what the user named
            whole,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT_SECONDS,
            check=False,
        )
        if done.returncode:
            raise InstallError(
                "It cannot be installed beside Copycat's own packages, which keep their versions. "
                f"uv says:\n{_explanation(done.stderr)}"
            )


def _find_uv() -> Path:
    named = shutil.which("uv")
    # The folder where `make setup` puts uv when the machine has none.
    beside = Path(sys.prefix).parent / "build" / "uv" / "bin" / "uv"
    in_environment = Path(sys.executable).with_name("uv")
    candidates = [*([Path(named)] if named else []), beside, in_environment]
    for each in candidates:
        if each.is_file() and _answers(each):
            return each
    raise PluginPackageError(
        "Installing plugins needs the program uv, and there is none on the PATH: install it "
        "(`pip install uv`), then try again"
    )


def _answers(program: Path) -> bool:
    asked = subprocess.run(  # a wrapper that answers nothing is no uv
        [str(program), "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
    )
    return asked.returncode == 0


def _explanation(said: str) -> str:
    """Return what uv says about a failure, without its progress, bounded."""
    lines = said.strip().splitlines()
    starts = [place for place, line in enumerate(lines) if line.startswith("error")]
    shown = lines[starts[0] :] if starts else lines
    if len(shown) > SHOWN_LINES:
        shown = [*shown[: SHOWN_LINES // 3], "  ...", *shown[-2 * SHOWN_LINES // 3 :]]
    return "\n".join(f"  {line}" for line in shown)
