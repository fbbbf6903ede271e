"""The formats of files of records, one module each."""
