"""Mirrors between two real clusters; all files share one pair of brokers and one running system."""
