"""The child processes: the process of the connectors and the query engine, seen from outside."""
