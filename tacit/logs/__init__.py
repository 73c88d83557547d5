"""Episodes that happened, on disk: the format, files, their survey, labels, and conversions. Imports the agent and
what is below it.
"""
