"""Writes the tables of the Connector SDK that come from Java: scripts and blocks of Unicode, names of zones.

Asks the Java that the tests use; the committed tables are Java 17's. Other releases know other versions of
Unicode and of the time zones, so what this changes is to be looked at before it is committed. The offset of a
zone's name is the one that Java reads on 2024-01-01.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, TypeAlias

from copycat_embedded.jars import ensure_jars
from copycat_embedded.jvm import find_java
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

SDK = Path(__file__).parents[1] / "libs" / "connect" / "copycat_connect"
PROPERTIES = SDK / "config" / "unicode_properties.txt"
ZONES = SDK / "values" / "zone_names.txt"
#: Compiled by Javassist, whose Java has neither generics nor boxing.
METHODS = (
    """public static String of(int kind, int point) {
        if (kind == 0) return String.valueOf(Character.UnicodeScript.of(point));
        if (kind == 1) return String.valueOf(Character.UnicodeBlock.of(point));
        if (kind == 2) return String.valueOf(Character.isAlphabetic(point));
        return String.valueOf(Character.isIdeographic(point));
    }""",
    """public static String runs(int kind) {
        StringBuffer found = new StringBuffer();
        int start = 0;
        String last = of(kind, 0);
        for (int point = 1; point <= 0x110000; point++) {
            String name = point > 0x10FFFF ? "" : of(kind, point);
            if (name.equals(last)) continue;
            String ends = Integer.toHexString(start) + " " + Integer.toHexString(point - 1);
            found.append(last + " " + ends + "\\n");
            start = point;
            last = name;
        }
        return found.toString();
    }""",
    """public static String codes() {
        StringBuffer found = new StringBuffer();
        for (int number = 0; number < 26 * 26 * 26 * 26; number++) {
            int left = number;
            String code = "";
            for (int place = 0; place < 4; place++) {
                code = (char) (65 + left % 26) + code;
                left = left / 26;
            }
            try {
                found.append(String.valueOf(Character.UnicodeScript.forName(code)) + " " + code + "\\n");
            } catch (IllegalArgumentException unknown) {
                continue;
            }
        }
        return found.toString();
    }""",
    """public static String zones() {
        String[][] rows = java.text.DateFormatSymbols.getInstance(java.util.Locale.US).getZoneStrings();
        StringBuffer found = new StringBuffer();
        for (int row = 0; row < rows.length; row++) {
            for (int column = 1; column < 5; column++) {
                String name = rows[row][column];
                String pattern = "yyyy-MM-dd HH:mm z";
                java.text.DateFormat format = new java.text.SimpleDateFormat(pattern, java.util.Locale.US);
                format.setTimeZone(java.util.TimeZone.getTimeZone("UTC"));
                try {
                    long millis = format.parse("2024-01-01 00:00 " + name).getTime();
                    found.append(((1704067200000L - millis) / 60000L) + "|" + name + "\\n");
                } catch (java.text.ParseException unreadable) {
                    continue;
                }
            }
        }
        return found.toString();
    }""",
)


JavaClass: TypeAlias = Any
"""A class in the JVM, seen through py4j."""


def main() -> None:
    """Ask Java, and write or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a table differs")
    check: bool = parser.parse_args().check
    tables = _compiled()
    differing = [path for path, text in ((PROPERTIES, _properties(tables)), (ZONES, _zones(tables)))
                 if not _is_kept(path, text, check=check)]  # fmt: skip
    if differing:
        raise SystemExit(f"Differs from this Java's: {', '.join(map(str, differing))}")


def _compiled() -> JavaClass:
    jars = os.pathsep.join(map(str, ensure_jars(("broker", "connect"))))
    java = str(find_java().executable)
    print(f"Starting {java}", flush=True)
    port, secret = launch_gateway(classpath=jars, java_path=java, die_on_exit=True, enable_auth=True)[:2]
    jvm: Any = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=secret)).jvm
    made = jvm.javassist.ClassPool(True).makeClass("py4j.Tables")
    for method in METHODS:
        made.addMethod(jvm.javassist.CtMethod.make(method, made))
    made.toClass(jvm.java.lang.Class.forName("py4j.GatewayServer"))
    return jvm.py4j.Tables


def _properties(tables: JavaClass) -> str:
    print("Scripts, blocks and binary properties of Unicode", flush=True)
    codes: dict[str, str] = dict(line.split(" ") for line in tables.codes().splitlines())
    scripts = (
        (" ".join(dict.fromkeys(("script", name, codes.get(name, name)))), ranges)
        for name, ranges in sorted(_runs(tables, 0).items())
        if name != "UNKNOWN"
    )
    blocks = (
        (f"block {name}", ranges) for name, ranges in sorted(_runs(tables, 1).items()) if name != "null"
    )
    binary = (
        ("binary ALPHABETIC", _runs(tables, 2)["true"]),
        ("binary IDEOGRAPHIC", _runs(tables, 3)["true"]),
    )
    return "".join(f"{head}|{','.join(ranges)}\n" for head, ranges in (*scripts, *blocks, *binary))


def _runs(tables: JavaClass, kind: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in tables.runs(kind).splitlines():
        name, low, high = line.split(" ")
        found.setdefault(name, []).append(low if low == high else f"{low}-{high}")
    return found


def _zones(tables: JavaClass) -> str:
    print("Names of time zones", flush=True)
    found: dict[int, set[str]] = {}
    for line in tables.zones().splitlines():
        minutes, name = line.split("|", 1)
        if name.startswith("GMT"):  # read without a table
            continue
        found.setdefault(int(minutes), set()).add(name)
    return "".join(f"{'|'.join((str(minutes), *sorted(found[minutes])))}\n" for minutes in sorted(found))


def _is_kept(path: Path, text: str, *, check: bool) -> bool:
    if path.read_text("utf-8") == text:
        print(f"{path.name}: as it was")
        return True
    if check:
        return False
    path.write_text(text, "utf-8")
    print(f"{path.name}: written anew")
    return True


if __name__ == "__main__":
    main()
