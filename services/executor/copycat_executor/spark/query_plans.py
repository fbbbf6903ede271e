"""What a query over records may be, seen from Spark's plans of it, and the column of each row's place.

The plans are Spark's own (Catalyst): what is refused here is what its parser and analyser found, not a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from copycat_connect.errors import ConfigError
from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

RECORDS = "records"
PLACE = "__place"
_PACKAGE = "org.apache.spark.sql.catalyst."
#: What maps each record to one row or none, before and after analysis.
_PARSED = frozenset({"Project", "Filter", "SubqueryAlias", "UnresolvedRelation"})
_ANALYSED = frozenset({"Project", "Filter", "SubqueryAlias", "View", "LocalRelation", "LogicalRDD"})
#: They run code by its name, or read files.
_DANGEROUS = frozenset(
    {"reflect", "java_method", "try_reflect", "from_avro", "to_avro", "from_protobuf", "to_protobuf"}
)
#: Spark calls them deterministic, since they are within one query; a batch that is repeated is another.
_CLOCKS = frozenset({"CurrentTimestamp", "Now", "LocalTimestamp", "CurrentDate", "CurrentTime"})
_FIX = "write SELECT expressions FROM records [WHERE condition]"


def parse(session: SparkSession, sql: str) -> JavaObject:
    """Parse a query and check what can be said before Spark looks anything up; runs nothing.

    Raises:
        ParseException: It is no SQL.
        ConfigError: It is more than one SELECT over `records`.
    """
    if PLACE in sql.lower():
        raise ConfigError(f"{PLACE} is the engine's own column")
    plan = session._jsparkSession.sessionState().sqlParser().parsePlan(sql)
    for node in _nodes(plan):
        _check_parsed(node)
    return _with_place(session, plan)


def check_analysed(plan: JavaObject) -> None:
    """Check the plan Spark made of a query: one row or none for each record, and the same each time.

    Raises:
        ConfigError: It is not a query.
    """
    for node in _nodes(plan):
        name = _name(node)
        if name == "Generate":
            raise ConfigError("A query gives one row for a record, or none; explode and its like give more")
        if name not in _ANALYSED:
            raise ConfigError(f"{name} works across records, and a batch of them is no unit; {_FIX}")
        for expression in _expressions(node):
            if not expression.deterministic() or _name(expression) in _CLOCKS:
                raise ConfigError(
                    f"{expression.sql()} gives something else each time; a repeated record must give the same"
                )


def _check_parsed(node: JavaObject) -> None:
    name = _name(node)
    if name not in _PARSED:
        raise ConfigError(f"{name} is not allowed: a query is one SELECT over records; {_FIX}")
    if name == "UnresolvedRelation" and node.tableName().lower() != RECORDS:
        raise ConfigError(f"There is no table {node.tableName()}; {_FIX}")
    for expression in _expressions(node):
        _check_expression(expression)


def _check_expression(expression: JavaObject) -> None:
    name = _name(expression)
    if name == "UnresolvedFunction":
        function = expression.nameParts().last().lower()
        if function in _DANGEROUS:
            raise ConfigError(f"{function} is not allowed: it runs code or reads files by name")
    elif name == "UnresolvedStar" and expression.target().isEmpty():
        raise ConfigError("Name the columns: value.* stands for the fields of the value, * for too much")
    elif "UnresolvedIdentifier" in name or _is_subquery(expression):
        raise ConfigError(f"{name} is not allowed in an expression; {_FIX}")


def _with_place(session: SparkSession, plan: JavaObject) -> JavaObject:
    """Let every SELECT pass the place column on."""
    jvm: Any = session._jvm
    to_seq = jvm.PythonUtils.toSeq
    children = [_with_place(session, child) for child in _items(plan.children())]
    if _name(plan) != "Project":
        return plan.withNewChildren(to_seq(children)) if children else plan
    catalyst = jvm.org.apache.spark.sql.catalyst
    place = catalyst.analysis.UnresolvedAttribute.quoted(PLACE)
    return catalyst.plans.logical.Project(to_seq([*_items(plan.projectList()), place]), children[0])


def _nodes(plan: JavaObject) -> Iterator[JavaObject]:
    yield plan
    for child in _items(plan.children()):
        yield from _nodes(child)


def _expressions(node: JavaObject) -> Iterator[JavaObject]:
    for expression in _items(node.expressions()):
        yield from _nodes(expression)


def _is_subquery(expression: JavaObject) -> bool:
    parents = (f"{_PACKAGE}expressions.PlanExpression", f"{_PACKAGE}expressions.SubqueryExpression")
    found = expression.getClass()
    while found is not None:
        if found.getName() in parents:
            return True
        found = found.getSuperclass()
    return False


def _items(sequence: JavaObject) -> list[JavaObject]:
    return [sequence.apply(place) for place in range(sequence.size())]


def _name(node: JavaObject) -> str:
    name: str = node.getClass().getSimpleName()
    return name
