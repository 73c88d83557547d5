"""The reward model of conversations: the small model's posterior."""
