"""Tacit learns what to do over several turns from how people react, with no reward ever observed."""
