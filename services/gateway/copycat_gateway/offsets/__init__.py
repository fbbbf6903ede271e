"""How offsets are read, altered and reset: what differs between a source and a sink, in one module each."""
