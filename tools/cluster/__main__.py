"""`python -m tools.cluster`: run a cluster of one node until Ctrl-C, with the images of the tree."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress

from tools.cluster.cluster import running_cluster


def main() -> int:
    """Start it, print how kubectl reaches it, and wait."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), running_cluster() as cluster:
        print(f"{' '.join(cluster.program)} --kubeconfig={cluster.kubeconfig}", flush=True)
        signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main())
