"""An application with a Copycat in it; a test runs it: application.py APP_ID BOOTSTRAP_SERVERS."""

from __future__ import annotations

import signal
import sys

from copycat_launcher.embedded import Copycat

STRING = "org.apache.kafka.connect.storage.StringConverter"
SETTINGS = {
    "key.converter": STRING,
    "value.converter": STRING,
    "offset.flush.interval.ms": "500",
    "spark.master": "local[8]",
}


def main(app_id: str, bootstrap_servers: str) -> None:
    """Run until stopped."""
    with Copycat(app_id, bootstrap_servers, settings=SETTINGS) as copycat:
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, lambda *_: copycat.stop())
        sys.stdout.write(f"Copycat is ready: {copycat.rest_url}\n")
        sys.stdout.flush()
        copycat.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
