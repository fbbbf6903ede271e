"""Character classes of Java's regular expressions: unions `[a[bc]]` and intersections `[a-z&&[^b]]`."""

from __future__ import annotations

from copycat_connect.config.code_points import Range, Ranges, complement, intersection, union
from copycat_connect.config.java_escapes import Escapes


def read_class(reader: Escapes) -> Ranges:
    """Read the class that opens at the reader's place; leaves it behind the closing bracket."""
    reader.place += 1
    negated = reader.take("^")
    operands: list[list[Range]] = [[]]
    while True:
        if reader.ended:
            raise reader.error("Unclosed character class", len(reader.pattern) - 1)
        if reader.at("]") and (len(operands) > 1 or operands[0]):
            reader.place += 1
            break
        if reader.take("&&"):
            operands.append([])
            continue
        found = read_class(reader) if reader.at("[") else _item(reader)
        reader.count(found)
        operands[-1].extend(found)
    given = [union(each) for each in operands if each]
    if not given:
        raise reader.error("Bad class syntax", reader.place - 2)
    result = given[0]
    for each in given[1:]:
        result = intersection(result, each)
    return complement(result) if negated else result


def _item(reader: Escapes) -> Ranges:
    low = reader.class_point()
    if not isinstance(low, int):
        return low
    following = reader.pattern[reader.place + 1 : reader.place + 2]
    if reader.at("-") and following not in ("[", "]"):
        reader.place += 1
        if reader.ended:
            raise reader.error("Illegal character range", reader.place)
        high = reader.class_point()
        if not isinstance(high, int) or high < low:
            raise reader.error("Illegal character range", reader.place - 1)
        return reader.cased(((low, high),))
    return reader.cased(((low, low),))
