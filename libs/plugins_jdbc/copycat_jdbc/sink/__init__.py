"""JdbcSink: the records of topics in the tables of a database."""
