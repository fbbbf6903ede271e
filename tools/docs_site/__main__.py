"""`python -m tools.docs_site`: gathers the pages in build/docs and builds the site in build/site.

Every warning fails: a link that leads nowhere, an anchor that is not there, a page that no menu has.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.docs_site.gathering import ROOT, gather
from tools.docs_site.menu import menu, settings_text
from tools.docs_site.reference import reference_pages

BUILD = ROOT / "build"
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def build(folder: Path) -> int:
    """Build the site below a folder: its sources in `docs`, the site in `site`; returns the exit code."""
    sources = folder / "docs"
    shutil.rmtree(sources, ignore_errors=True)
    pages = gather(sources, reference_pages())
    config = folder / "docs.toml"
    config.write_text(settings_text(menu(pages)), encoding="utf-8")
    generator = Path(sys.executable).with_name("zensical")
    command = [str(generator), "build", "--strict", "--clean", "--config-file", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    said = done.stdout + done.stderr
    if done.returncode:
        print(COLOUR.sub("", said), file=sys.stderr)
        return done.returncode
    print(f"{len(pages)} pages: {folder / 'site' / 'index.html'}")
    return 0


if __name__ == "__main__":
    BUILD.mkdir(exist_ok=True)
    sys.exit(build(BUILD))
