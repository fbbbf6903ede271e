"""VerifiableSink: prints each record when it comes and when it is flushed."""
