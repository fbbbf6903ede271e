"""Connectors of this worker: started, paused, stopped, and asked for the configurations of their tasks."""
