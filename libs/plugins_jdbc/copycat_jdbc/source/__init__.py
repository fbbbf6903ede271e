"""JdbcSource: the rows of a database's tables as records."""
