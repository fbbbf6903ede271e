"""REST extensions, one folder each."""
