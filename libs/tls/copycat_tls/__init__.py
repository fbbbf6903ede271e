"""Key stores and trust stores: the keys that name them, and what is in them."""
