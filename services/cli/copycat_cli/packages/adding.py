"""Adds and removes packages of plugins by uv, so that each attempt ends done or leaves nothing behind."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from importlib import invalidate_caches
from importlib.metadata import distributions
from pathlib import Path

import msgspec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from copycat_cli.errors import PluginPackageError, UnknownNameError
from copycat_cli.packages.loading import Loaded, load_in_process_of_its_own
from copycat_cli.packages.record import PackageKind, PackageRecord, Recorded, Source

_INSTALL_TIMEOUT_SECONDS = 900.0
_SHOWN_LINES = 30


class _InstallError(PluginPackageError):
    """The installer refused or failed; nothing was changed."""


class _Installer:
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
            timeout=_INSTALL_TIMEOUT_SECONDS,
            check=False,
        )
        if done.returncode:
            raise _InstallError(
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
    if len(shown) > _SHOWN_LINES:
        shown = [*shown[: _SHOWN_LINES // 3], "  ...", *shown[-2 * _SHOWN_LINES // 3 :]]
    return "\n".join(f"  {line}" for line in shown)


def _installed_packages() -> dict[str, str]:
    """Return the version of each installed package by its canonical name: lower case, with hyphens."""
    invalidate_caches()  # a package may have come a moment ago
    packages: dict[str, str] = {}
    for distribution in distributions():
        name = distribution.metadata["Name"]
        if name:  # a half-removed package leaves a folder without metadata
            packages.setdefault(canonicalize_name(name), distribution.version)
    return packages


ENTRY_POINT_HINT = '[project.entry-points."copycat.plugins"]'


@dataclass(frozen=True, slots=True)
class Known:
    """A package of plugins that was added, and how it is now."""

    recorded: Recorded
    version: str | None
    """None when the environment does not have it, for example because it was made anew."""
    loaded: Loaded
    """What came of loading it."""


class PluginPackages:
    """The packages of plugins that a user added to the environment that runs this program."""

    def __init__(self, record: PackageRecord) -> None:
        """Use this record of what was added."""
        self._record = record

    def add(self, source: Source) -> Known:
        """Install a package, see that its plugins can be loaded, and write it down.

        Raises:
            PluginPackageError: It cannot be installed beside Copycat's packages, has no plugins, or one of
                them cannot be loaded. The environment is then as it was.
        """
        before = _installed_packages()
        recorded = {each.name: each for each in self._record.read()}
        if source.name in self._fixed(before):
            raise PluginPackageError(
                f"{source.name} is one of the packages that Copycat itself is made of; it is here already"
            )
        earlier = recorded.get(source.name)
        try:
            loaded = self._install(source, before, earlier)
        except PluginPackageError as error:
            raise type(error)(
                f"{source.text} was not added, and nothing was changed. {error.message}"
            ) from error
        after = _installed_packages()
        plugin = Recorded(
            source.name,
            source.kind,
            _pinned(self._record.keep_wheel(source), after),
            sorted({*(earlier.brought if earlier else ()), *(after.keys() - before.keys())}),
        )
        self._record.put(plugin)
        return Known(plugin, after[source.name], loaded)

    def remove(self, name: str) -> None:
        """Remove a package that was added, with what came with it and no other plugin needs.

        Raises:
            NotFoundError: It was not added.
        """
        recorded = {each.name: each for each in self._record.read()}
        if name not in recorded:
            known = f"added were {', '.join(recorded)}" if recorded else "none were added"
            raise UnknownNameError(f"{name} is not a package of plugins that was added: {known}")
        _Installer().uninstall(recorded[name].brought)
        self._record.forget(name)
        self.restore()

    def restore(self, failed: Callable[[str, str], None] | None = None) -> list[str]:
        """Install again what was added, as after the environment was made anew.

        Args:
            failed: Is called with the name and the reason of each that cannot be installed; the others are
                installed all the same. By default the error is raised.

        Returns:
            The names of those that were installed.
        """
        done: list[str] = []
        for plugin in self._record.read():
            before = _installed_packages()
            try:
                self._install_again(plugin, self._fixed(before))
            except _InstallError as error:
                if failed is None:
                    raise
                failed(plugin.name, error.message)
                continue
            # What stayed from before is its own; in an environment made anew it may be Copycat's by now.
            stayed = plugin.brought if plugin.name in before else [plugin.name]
            brought = sorted({*stayed, *(_installed_packages().keys() - before.keys())})
            self._record.put(msgspec.structs.replace(plugin, brought=brought))
            done.append(plugin.name)
        return done

    def known(self) -> list[Known]:
        """Return what was added, each package with what came of loading it now."""
        plugins = self._record.read()
        installed = _installed_packages()
        there = [each.name for each in plugins if each.name in installed]
        loaded = load_in_process_of_its_own(there) if there else {}
        return [
            Known(
                each,
                installed.get(each.name),
                loaded.get(each.name, Loaded()),
            )
            for each in plugins
        ]

    def _fixed(self, installed: Mapping[str, str]) -> dict[str, str]:
        """Return the packages that no plugin brought: they keep their versions."""
        brought = {name for each in self._record.read() for name in each.brought}
        return {name: version for name, version in installed.items() if name not in brought}

    def _install(self, source: Source, before: Mapping[str, str], earlier: Recorded | None) -> Loaded:
        installer = _Installer()
        installer.install(source, self._fixed(before))
        try:
            return self._checked(source.name)
        except PluginPackageError:
            installer.uninstall(_installed_packages().keys() - before.keys())
            if earlier is not None:
                self._install_again(earlier, self._fixed(before))
            raise

    def _checked(self, name: str) -> Loaded:
        loaded = load_in_process_of_its_own([name])[name]
        if loaded.failures:
            raise PluginPackageError(
                "It cannot be loaded:\n" + "\n".join(f"  {each}" for each in loaded.failures)
            )
        if not loaded.plugins:
            raise PluginPackageError(
                f"It announces no plugin: its pyproject.toml needs a table {ENTRY_POINT_HINT} "
                "that names the module of each"
            )
        return loaded

    def _install_again(self, plugin: Recorded, fixed: Mapping[str, str]) -> None:
        source, installer = plugin.to_source(), _Installer()
        try:
            installer.install(source, fixed, offline=True)
        except _InstallError:  # not all of it was kept from the last time
            installer.install(source, fixed)


def _pinned(source: Source, installed: Mapping[str, str]) -> str:
    """Return what to write down: of a package from an index, the very version that was installed."""
    if source.kind is not PackageKind.PACKAGE:
        return source.text
    requirement = Requirement(source.text)
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{source.name}{extras}=={installed[source.name]}"
