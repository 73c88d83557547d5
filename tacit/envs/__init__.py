"""What agents are tried on: Gymnasium environments, layered ones and booking dialogues, and the adapter for others.
Imports `logs`, `text` and what is below them.
"""
