"""What a query over records may be, seen from Spark's plans of it, and the column of each row's place.

The plans are Spark's own (Catalyst): what is refused here is what its parser and analyser found, not a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from copycat_connect.errors import ConfigError
from copycat_connect.plugin.row_query import PLACE, RECORDS, QueryText
from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession

_PACKAGE = "org.apache.spark.sql.catalyst."
#: What maps each record to one row or none, before and after analysis.
_PARSED = frozenset({"Project", "Filter", "SubqueryAlias", "UnresolvedRelation"})
_ANALYSED = frozenset({"Project", "Filter", "SubqueryAlias", "View", "LocalRelation", "LogicalRDD", "Join"})
#: How a table may be joined, so that a record of which one row matches at most gives one row or none.
_JOINS = frozenset({"INNER", "CROSS", "LEFT OUTER", "LEFT SEMI", "LEFT ANTI"})
#: Queries that have names within another: its WITH.
WITH = "UnresolvedWith"
#: What works across rows, of a query with state or of the tables that one without joins, before analysis.
_ACROSS = _PARSED | {"Aggregate", "Join", "Distinct", "Union", "UnresolvedHaving", WITH}
#: They run code by its name, or read files.
_DANGEROUS = frozenset(
    {"reflect", "java_method", "try_reflect", "from_avro", "to_avro", "from_protobuf", "to_protobuf"}
)
#: Spark calls them deterministic, since they are within one query; a batch that is repeated is another.
_CLOCKS = frozenset({"CurrentTimestamp", "Now", "LocalTimestamp", "CurrentDate", "CurrentTime"})
#: They stand for functions where no column has their name.
_CLOCK_NAMES = frozenset({"current_timestamp", "current_date", "current_time", "localtimestamp"})
#: What depends on a record.
_NAMES = frozenset({"UnresolvedAttribute", "UnresolvedNamedLambdaVariable"})
#: What the parser itself computes: nothing of it is left in a plan.
_SPECIAL_TIMES = re.compile(r"\b(date|timestamp\w*)\s*'\s*(now|today|tomorrow|yesterday)\b", re.IGNORECASE)
_ONE_SELECT = "a query is one SELECT over records (with state.url SparkQuery also groups and joins them)"
_FIX = "write SELECT expressions FROM records [WHERE condition]"
_EXPRESSION_FIX = "write one expression of the records' columns, without AS"


def parse(session: SparkSession, sql: str) -> JavaObject:
    """Parse a query and check what can be said before Spark looks anything up; runs nothing.

    Raises:
        ParseException: It is no SQL.
        ConfigError: It is more than one SELECT over `records`.
    """
    plan = parse_any(session, sql)
    for node in plan_nodes(plan):
        _check_parsed(node)
    return _with_place(session, plan)


def parse_rows_query(
    session: SparkSession, sql: str, expressions: Mapping[str, str], tables: Collection[str] = ()
) -> tuple[JavaObject, list[JavaObject]]:
    """Parse a query over rows that have a place, and the expressions for more columns, by name.

    It may join these views of the session (`tables`).

    Raises:
        ParseException: It is no SQL.
        ConfigError: It is more than one SELECT over `records`, or a text is no expression.
    """
    more = [_parsed_expression(session, text, name) for name, text in expressions.items()]
    return _parsed_rows_query(session, sql, tables), more


def over_rows(
    session: SparkSession, query: tuple[JavaObject, list[JavaObject]], rows: JavaObject
) -> JavaObject:
    """Return the plan of a parsed query over the rows of a plan."""
    plan, more = query
    return _with_place(session, plan, _named_rows(session, rows), more)


def check_unread(
    session: SparkSession, text: str, *, kind: QueryText, repeatable: bool, tables: Collection[str] = ()
) -> None:
    """Check what can be seen of a query, or of an expression in one, before any row is known.

    A query without state may join tables of these names; which columns they have is not known.

    Raises:
        PySparkException: It is no SQL, or calls what is no function, or with constants that do not fit.
        ConfigError: It is not of the one kind or the other, or is to be repeatable and is not.
    """
    if kind is QueryText.COLUMNS:
        session._jsparkSession.sessionState().sqlParser().parseTableSchema(text)
        return
    if kind is QueryText.STATE:
        check_state_query(session, text, repeatable=repeatable)
        return
    if kind is QueryText.EXPRESSION:
        found = [_parsed_expression(session, text)]
    else:
        plan = _parsed_rows_query(session, text, tables)
        found = [each for node in plan_nodes(plan) for each in items(node.expressions())]
    if repeatable and (special := _SPECIAL_TIMES.search(text)):
        raise _unrepeatable(special[0])
    for expression in found:
        _check_functions(session, expression, repeatable=repeatable)


def check_analysed(plan: JavaObject, *, repeatable: bool = True) -> None:
    """Check the plan Spark made of a query: one row or none for each record, and the same if `repeatable`.

    Raises:
        ConfigError: It is not a query.
    """
    for node in plan_nodes(plan, of_records=True):
        name = name_of(node)
        if name == "Generate":
            raise ConfigError("A query gives one row for a record, or none; explode and its like give more")
        if name not in _ANALYSED:
            raise ConfigError(f"{name} works across records, and a batch of them is no unit; {_FIX}")
    if repeatable:
        check_repeatable(plan)


def check_repeatable(plan: JavaObject) -> None:
    """Check that a plan gives the same each time.

    Raises:
        ConfigError: It does not.
    """
    for node in plan_nodes(plan):
        _check_repeatable(node)


def check_state_query(session: SparkSession, sql: str, *, repeatable: bool) -> None:
    """Check what can be seen of a query with state before its tables are known; runs nothing.

    Raises:
        PySparkException: It is no SQL, or calls what is no function.
        ConfigError: It is no query, or runs code by name, or is to be repeatable and is not.
    """
    if repeatable and (special := _SPECIAL_TIMES.search(sql)):
        raise _unrepeatable(special[0])
    for node in plan_nodes(parse_any(session, sql)):
        _check_across(node)
        for expression in items(node.expressions()):
            _check_functions(session, expression, repeatable=repeatable)


def dataset(session: SparkSession, plan: JavaObject) -> DataFrame:
    """Return a plan as a DataFrame; Spark analyses it now.

    Raises:
        AnalysisException: Spark refuses it.
    """
    jvm: Any = session._jvm
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(session._jsparkSession, plan), session)


def _check_repeatable(node: JavaObject) -> None:
    for expression in _expressions(node):
        if not expression.deterministic() or name_of(expression) in _CLOCKS:
            raise _unrepeatable(expression.sql())


def _unrepeatable(text: str) -> ConfigError:
    return ConfigError(f"{text} gives something else each time; a repeated record must give the same")


def parse_any(session: SparkSession, sql: str) -> JavaObject:
    """Parse a query of any kind.

    Raises:
        ParseException: It is no SQL.
        ConfigError: It names the engine's own column.
    """
    if PLACE in sql.lower():
        raise ConfigError(f"{PLACE} is the engine's own column")
    return session._jsparkSession.sessionState().sqlParser().parsePlan(sql)


def _parsed_rows_query(session: SparkSession, sql: str, tables: Collection[str]) -> JavaObject:
    plan = parse_any(session, sql)
    for node in plan_nodes(plan, of_records=True):
        if tables and name_of(node) == "Join":
            _check_join(node, tables)
        else:
            _check_parsed(node, stars=True)
    if name_of(plan) != "Project":
        raise ConfigError(f"It does not begin with SELECT; {_FIX}")
    return plan


def _parsed_expression(session: SparkSession, text: str, name: str | None = None) -> JavaObject:
    """Parse an expression, for a column of that name."""
    if PLACE in text.lower():
        raise ConfigError(f"{PLACE} is the engine's own column")
    parser = session._jsparkSession.sessionState().sqlParser()
    expression = parser.parseExpression(text)
    if _is_star(expression) or "Alias" in name_of(expression):
        raise ConfigError(f"It is not one expression; {_EXPRESSION_FIX}")
    for part in plan_nodes(expression):
        _check_expression(part)
    # The end of the line ends a comment, too.
    return expression if name is None else parser.parseExpression(f"({text}\n) AS {name}")


def _check_functions(session: SparkSession, expression: JavaObject, *, repeatable: bool) -> None:
    """Have Spark analyse the calls that depend on no column, and look up the others."""
    name = name_of(expression)
    if name == "UnresolvedFunction":
        if not any(name_of(part) in _NAMES for part in plan_nodes(expression)):
            _check_constant(session, expression, repeatable=repeatable)
            return
        if expression.nameParts().size() == 1:
            function = expression.nameParts().head()
            if not session.catalog.functionExists(function):
                raise ConfigError(f"There is no function {function}")
    elif repeatable and name == "UnresolvedAttribute" and _is_clock(expression):
        raise _unrepeatable(expression.sql())
    for child in items(expression.children()):
        _check_functions(session, child, repeatable=repeatable)


def _check_constant(session: SparkSession, call: JavaObject, *, repeatable: bool) -> None:
    jvm: Any = session._jvm
    catalyst = jvm.org.apache.spark.sql.catalyst
    column = catalyst.analysis.UnresolvedAlias(call, jvm.scala.Option.empty())
    logical = catalyst.plans.logical
    plan = logical.Project(jvm.PythonUtils.toSeq([column]), logical.OneRowRelation())
    analysed = dataset(session, plan)._jdf.queryExecution().analyzed()
    if repeatable:
        for node in plan_nodes(analysed):
            _check_repeatable(node)


def _is_clock(attribute: JavaObject) -> bool:
    parts = attribute.nameParts()
    return bool(parts.size() == 1 and parts.head().lower() in _CLOCK_NAMES)


def _named_rows(session: SparkSession, rows: JavaObject) -> JavaObject:
    """Give rows the name of the table, and another that queries cannot have: checks end there."""
    jvm: Any = session._jvm
    catalyst = jvm.org.apache.spark.sql.catalyst
    for name in (PLACE, RECORDS):
        rows = catalyst.plans.logical.SubqueryAlias(catalyst.AliasIdentifier(name), rows)
    return rows


def _check_parsed(node: JavaObject, *, stars: bool = False) -> None:
    """Check a node of a plan; with `stars` a SELECT may have a star for all columns."""
    name = name_of(node)
    if name not in _PARSED:
        raise ConfigError(f"{name} is not allowed: {_ONE_SELECT}; {_FIX}")
    if name == "UnresolvedRelation" and node.tableName().lower() != RECORDS:
        raise ConfigError(f"There is no table {node.tableName()}; {_FIX}")
    for expression in items(node.expressions()):
        if stars and _is_star(expression):
            continue
        for part in plan_nodes(expression):
            if stars and _is_star(part):
                raise ConfigError("A star stands for columns in SELECT, not within an expression")
            _check_expression(part)


def _check_join(join: JavaObject, tables: Collection[str]) -> None:
    """Check a join of records with tables: the records come first, and each stays one row or none."""
    first, second = items(join.children())
    kind = join.joinType().sql().removeprefix("USING ")
    if kind not in _JOINS or not _reads_records(first) or _reads_records(second):
        raise ConfigError(
            f"This {kind} JOIN does not give one row for each record, or none: write records first, FROM "
            "records [LEFT] JOIN table ON ..."
        )
    for expression in items(join.expressions()):
        for part in plan_nodes(expression):
            _check_expression(part)
    for node in plan_nodes(second):
        _check_across(node)
        if name_of(node) == "UnresolvedRelation" and node.tableName() not in tables:
            raise ConfigError(
                f"There is no table {node.tableName()}; there are {', '.join([RECORDS, *tables])}"
            )


def _check_across(node: JavaObject) -> None:
    """Check a node of what works across rows."""
    name = name_of(node)
    if name not in _ACROSS:
        raise ConfigError(
            f"{name} is not allowed: a query is a SELECT over tables, with WHERE, JOIN, GROUP BY, HAVING, "
            "DISTINCT or UNION"
        )
    for expression in items(node.expressions()):
        for part in plan_nodes(expression):
            if not _is_star(part):
                _check_expression(part)


def _reads_records(plan: JavaObject) -> bool:
    relations = (node for node in plan_nodes(plan) if name_of(node) == "UnresolvedRelation")
    return any(node.tableName().lower() == RECORDS for node in relations)


def _is_star(expression: JavaObject) -> bool:
    return name_of(expression).startswith("UnresolvedStar")


def _check_expression(expression: JavaObject) -> None:
    name = name_of(expression)
    if name == "UnresolvedFunction":
        function = expression.nameParts().last().lower()
        if function in _DANGEROUS:
            raise ConfigError(f"{function} is not allowed: it runs code or reads files by name")
    elif name == "UnresolvedStar" and expression.target().isEmpty():
        raise ConfigError("Name the columns: value.* stands for the fields of the value, * for too much")
    elif "UnresolvedIdentifier" in name or _is_subquery(expression):
        raise ConfigError(f"{name} is not allowed in an expression; {_FIX}")


def _with_place(
    session: SparkSession, plan: JavaObject, rows: JavaObject | None = None, more: Sequence[JavaObject] = ()
) -> JavaObject:
    """Let every SELECT over records pass the place column on, and the outermost have more columns.

    `rows` stand in for the table. Their place is a column, so that a star stands for it, too. What is joined
    is broadcast, which leaves the rows in their order and their partition.
    """
    if rows is not None and name_of(plan) == "UnresolvedRelation":
        return rows
    jvm: Any = session._jvm
    to_seq = jvm.PythonUtils.toSeq
    catalyst = jvm.org.apache.spark.sql.catalyst
    children = items(plan.children())
    if children:
        hint, none = catalyst.plans.logical.UnresolvedHint, to_seq([])
        tables = [hint("BROADCAST", none, each) for each in children[1:]]
        children = [_with_place(session, children[0], rows), *tables]
    if name_of(plan) != "Project":
        return plan.withNewChildren(to_seq(children)) if children else plan
    columns = items(plan.projectList())
    if rows is None or not any(_stands_for_rows(column, plan) for column in columns):
        columns.append(catalyst.analysis.UnresolvedAttribute.quoted(PLACE))
    return catalyst.plans.logical.Project(to_seq([*columns, *more]), children[0])


def _stands_for_rows(column: JavaObject, project: JavaObject) -> bool:
    """Return whether a column of a SELECT is a star for all columns, and not for the fields of one."""
    if not _is_star(column):
        return False
    target = column.target()
    if target.isEmpty():
        return True
    below = items(project.children())[0]
    while name_of(below) in {"Filter", "Join"}:
        below = items(below.children())[0]
    name = below.alias() if name_of(below) == "SubqueryAlias" else RECORDS
    return [*items(target.get())] == [name]


def plan_nodes(plan: JavaObject, *, of_records: bool = False) -> Iterator[JavaObject]:
    """Yield the nodes of a plan and its WITH, down to rows that are not the query's; or of an expression.

    With `of_records` those are left out that only read what records are joined with.
    """
    yield plan
    if name_of(plan) == "SubqueryAlias" and plan.alias() == PLACE:
        return
    children = items(plan.children())
    if name_of(plan) == WITH:
        children += items(plan.innerChildren())
    for child in children[:1] if of_records else children:
        yield from plan_nodes(child, of_records=of_records)


def _expressions(node: JavaObject) -> Iterator[JavaObject]:
    for expression in items(node.expressions()):
        yield from plan_nodes(expression)


def _is_subquery(expression: JavaObject) -> bool:
    parents = (f"{_PACKAGE}expressions.PlanExpression", f"{_PACKAGE}expressions.SubqueryExpression")
    found = expression.getClass()
    while found is not None:
        if found.getName() in parents:
            return True
        found = found.getSuperclass()
    return False


def items(sequence: JavaObject) -> list[JavaObject]:
    """Return what a sequence of Scala has."""
    return [sequence.apply(place) for place in range(sequence.size())]


def name_of(node: JavaObject) -> str:
    """Return the name of the class of a node."""
    name: str = node.getClass().getSimpleName()
    return name
