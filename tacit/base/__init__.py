"""What everything stands on: array types, the compiler, randomness, checks of numbers, files. Imports nothing of
Tacit.
"""
