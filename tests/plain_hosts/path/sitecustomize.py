"""Python imports this when it starts with this folder on PYTHONPATH: an executor then runs without Spark."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

#: Programs whose process is an executor beside all else: standalone workers, and applications of the tests.
WITH_ROLES_INSIDE = {"copycat", "application.py"}

if sys.orig_argv[1:3] == ["-m", "copycat_executor"]:
    vars(import_module("copycat_executor.main"))["main"] = import_module("plain_spark").main
elif len(sys.orig_argv) > 1 and Path(sys.orig_argv[1]).name in WITH_ROLES_INSIDE:
    import_module("plain_roles").replace()
