"""LogSource: the lines of many log files as records, through every rotation."""
