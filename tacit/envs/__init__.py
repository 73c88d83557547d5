"""Layered contextual environments, each a Gymnasium environment."""
