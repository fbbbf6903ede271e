"""The record of the plugins that a user added, and where they came from: an index, a wheel, or a folder.

It is a folder beside the Python environment, outside of it. `plugins.json` lists the packages in the order
they were added, `wheels/` keeps a copy of each wheel that was added, so that the plugins can be installed
again after the environment was made anew.
"""

from __future__ import annotations

import shutil
import sys
import tomllib
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from copycat_cli.errors import PluginPackageError, UsageError


class PackageKind(Enum):
    """What the user named; the value is how the record and `copycat plugins list` say it."""

    PACKAGE = "package"
    WHEEL = "wheel"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class Source:
    """A package of plugins that can be installed."""

    kind: PackageKind
    name: str
    """The canonical name of the package."""
    text: str
    """The requirement (`name==1.2`), or the absolute path of the wheel or folder."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """What an installer is given. A folder is used in place: an edit counts after a restart."""
        return ("--editable", self.text) if self.kind is PackageKind.FOLDER else (self.text,)


def read_source(text: str) -> Source:
    """Return what `PACKAGE|WHEEL|FOLDER` names.

    Raises:
        UsageError: There is no such wheel or folder, it is not one, or this is not the name of a package.
    """
    if "://" in text:
        raise UsageError(
            "A URL is not taken, since it may hold a password and what it gives may change: "
            "download the wheel and name that file"
        )
    path = Path(text).expanduser()
    if text.endswith(".whl"):
        return _wheel(path)
    if path.is_dir():
        return _folder(path.resolve())
    if path.exists():
        raise UsageError(f"{text} is a file but not a wheel (.whl): name a package, a wheel or a folder")
    if "/" in text:
        raise UsageError(f"There is no folder {text}")
    return _package(text)


def _wheel(path: Path) -> Source:
    if not path.is_file():
        raise UsageError(f"There is no wheel {path}")
    try:
        name = parse_wheel_filename(path.name)[0]
    except InvalidWheelFilename as error:
        raise UsageError(
            f"{path.name} is not the name of a wheel (NAME-VERSION-PYTHON-ABI-PLATFORM.whl): "
            "wheels must keep the name they were built with"
        ) from error
    return Source(PackageKind.WHEEL, name, str(path.resolve()))


def _folder(folder: Path) -> Source:
    file = folder / "pyproject.toml"
    if not file.is_file():
        raise UsageError(f"{folder} has no pyproject.toml: name the folder of a Python package")
    try:
        name = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["name"]
    except (KeyError, TypeError) as error:
        raise UsageError(f"{file} has no name under [project]: give the package one") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is not valid TOML: {error}") from error
    return Source(PackageKind.FOLDER, canonicalize_name(str(name)), str(folder))


def _package(text: str) -> Source:
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        raise UsageError(
            f"{text!r} is not the name of a package, such as copycat-orders or 'copycat-orders>=1.2', "
            "nor a wheel or a folder that exists"
        ) from error
    return Source(PackageKind.PACKAGE, canonicalize_name(requirement.name), str(requirement))


PROJECT_ENVIRONMENT = ".venv"
FOLDER = ".plugins"


class Recorded(msgspec.Struct, frozen=True):
    """A package of plugins that was added."""

    name: str
    """Its canonical name."""
    kind: PackageKind
    """What it was added from."""
    source: str
    """The requirement with the version that was installed, or the absolute path of the wheel or folder."""
    brought: list[str] = []
    """Canonical names of the packages that came with it, itself included; none of Copycat's own is here."""

    def to_source(self) -> Source:
        """Return what it is installed from."""
        return Source(self.kind, self.name, self.source)


class _File(msgspec.Struct):
    plugins: list[Recorded]


def record_folder(prefix: Path | None = None) -> Path:
    """Return where the record of an environment is.

    For an environment `.venv` it is `.plugins` beside it, which outlives it; for any other it is inside.
    """
    root = prefix or Path(sys.prefix)
    return (root.parent if root.name == PROJECT_ENVIRONMENT else root) / FOLDER


class PackageRecord:
    """Which plugins were added to one environment."""

    def __init__(self, folder: Path) -> None:
        """Use this folder, which need not exist."""
        self._folder = folder
        self._file = folder / "plugins.json"

    def read(self) -> list[Recorded]:
        """Return what was added, in order.

        Raises:
            PluginPackageError: The file cannot be read.
        """
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_File).plugins
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError) as error:
            raise PluginPackageError(
                f"The record of added plugins, {self._file}, cannot be read: {error}. "
                "Mend or delete it, then add the plugins again"
            ) from error

    def put(self, plugin: Recorded) -> None:
        """Write down a plugin, in place of what was known under its name."""
        known = self.read()
        places = [place for place, each in enumerate(known) if each.name == plugin.name]
        if places:
            self._drop_wheel(known[places[0]], kept=plugin.source)
            known[places[0]] = plugin
        else:
            known.append(plugin)
        self._write(known)

    def forget(self, name: str) -> None:
        """Forget a plugin and delete the copy of its wheel."""
        known = self.read()
        for each in known:
            if each.name == name:
                self._drop_wheel(each)
        self._write([each for each in known if each.name != name])

    def keep_wheel(self, source: Source) -> Source:
        """Copy a wheel into the record; any other source is returned as it is."""
        if source.kind is not PackageKind.WHEEL:
            return source
        kept = self._folder / "wheels" / Path(source.text).name
        if kept != Path(source.text):
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source.text, kept)
        return Source(PackageKind.WHEEL, source.name, str(kept))

    @staticmethod
    def _drop_wheel(plugin: Recorded, kept: str = "") -> None:
        if plugin.kind is PackageKind.WHEEL and plugin.source != kept:
            Path(plugin.source).unlink(missing_ok=True)

    def _write(self, plugins: list[Recorded]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        written = self._file.with_suffix(".new")
        written.write_bytes(msgspec.json.format(msgspec.json.encode(_File(plugins)), indent=2) + b"\n")
        written.replace(self._file)
