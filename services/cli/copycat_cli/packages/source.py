"""Where a package of plugins comes from: an index, a wheel, or a folder with its source."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from copycat_cli.errors import UsageError


class Kind(Enum):
    """What the user named; the value is how the record and `copycat plugins list` say it."""

    PACKAGE = "package"
    WHEEL = "wheel"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class Source:
    """A package of plugins that can be installed."""

    kind: Kind
    name: str
    """The canonical name of the package."""
    text: str
    """The requirement (`name==1.2`), or the absolute path of the wheel or folder."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """What an installer is given. A folder is used in place: an edit counts after a restart."""
        return ("--editable", self.text) if self.kind is Kind.FOLDER else (self.text,)


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
    return Source(Kind.WHEEL, name, str(path.resolve()))


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
    return Source(Kind.FOLDER, canonicalize_name(str(name)), str(folder))


def _package(text: str) -> Source:
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        raise UsageError(
            f"{text!r} is not the name of a package, such as copycat-orders or 'copycat-orders>=1.2', "
            "nor a wheel or a folder that exists"
        ) from error
    return Source(Kind.PACKAGE, canonicalize_name(requirement.name), str(requirement))
