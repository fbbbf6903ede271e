"""Tasks of this worker: sent into hosts and stopped there, and what is done about what they report."""
