"""FileStreamSink: the values of records as lines of a file."""
