"""`make images`: build the image of every service, and print how large each is."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.table import Table

from tools.containers.engine import running_engine
from tools.containers.images import SERVICES, build, image_name


def main() -> int:
    """Build the images of the roles that are named, or all; returns 0."""
    console = Console(stderr=True)
    table = Table("image", "MB", "seconds", title="Images")
    with running_engine() as engine, engine.client() as client:
        since = time.monotonic()
        for role in build(client, sys.argv[1:] or SERVICES):
            megabytes = client.images.get(image_name(role)).attrs["Size"] / 1e6
            table.add_row(image_name(role), f"{megabytes:.0f}", f"{time.monotonic() - since:.0f}")
            console.print(f"{image_name(role)}: {megabytes:.0f} MB", highlight=False)
            since = time.monotonic()
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
