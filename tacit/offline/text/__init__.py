"""The reward model of conversations: the small model's posterior. Imports `offline` and what it may; not `tables`."""
