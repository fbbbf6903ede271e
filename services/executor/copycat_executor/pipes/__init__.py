"""What the executor and its child processes write to each other: typed messages, one a line of JSON.

There are two conversations, each with a closed union of immutable messages in either direction: with the
process of the connectors (`connector_messages`) and with the query engine (`query_messages`). Both ends run
the same code, so nothing here is a public contract. A line that is not a message ends the child process,
whichever side it came from.
"""
