"""Who runs what: pure decisions around the assignments topic."""
