"""gRPC servers and channels, error mapping, deadlines, health, reflection."""

from __future__ import annotations

import os

# Unless this is set before its first use, gRPC's core writes a line to stderr, in a format of its own, for
# every connection that a stopping server ends. What matters of it is raised, and logged by us.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
