"""A cluster of Kubernetes for the Helm chart: the one that is there, or one of our own, of one node."""
