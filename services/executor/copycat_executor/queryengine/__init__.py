"""The query engine: a process with a Spark of its own, so that no query harms the hosts or their driver.

Its parent speaks JSON lines with it over its standard input and output, and ends it when a query hangs.
"""
