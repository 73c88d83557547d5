"""With which codes commands end."""

FAILED = 1
"""The exit code of a command that could not do what was asked."""
INTERRUPTED = 130
"""The exit code of a program that Ctrl-C ended: 128 + SIGINT."""
