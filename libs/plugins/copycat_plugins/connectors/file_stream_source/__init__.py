"""FileStreamSource: the lines of a file as records."""
