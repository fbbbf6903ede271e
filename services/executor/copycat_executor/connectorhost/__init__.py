"""The process that runs the author code of connectors: starting, dividing work, validating, altering offsets.

A plain Python process. The executor exchanges messages with it over its standard input and output (`pipes`),
and ends it when it does not answer: nothing here may ever hold a service up.
"""
