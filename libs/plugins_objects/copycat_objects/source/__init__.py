"""ObjectSource: the records in files of a store."""
