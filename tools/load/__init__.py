"""How much a cluster holds: load in steps, churn, and a simulation of clusters larger than this machine."""
