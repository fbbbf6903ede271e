"""DatagenSource: records made up from a seed, for demonstrations and load."""
