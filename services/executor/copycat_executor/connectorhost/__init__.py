"""The process that runs the author code of connectors: starting, dividing work, validating, altering offsets.

A plain Python process. Its parent speaks JSON lines with it over its standard input and output, and ends it
when it does not answer: nothing here may ever hold a service up.
"""
