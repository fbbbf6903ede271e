"""The query engine: a process with a Spark of its own, so that no query harms the hosts or their driver.

The executor exchanges messages with it over its standard input and output (`pipes`), and ends it when a query
hangs.
"""
