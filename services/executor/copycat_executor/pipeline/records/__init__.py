"""What happens to records of sources and sinks alike: transformations, error tolerance, dead letters."""
