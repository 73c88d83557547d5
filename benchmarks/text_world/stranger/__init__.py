"""Worlds written by somebody who had not seen the learner, from the words of the task alone.

What people say, ask for and are offered stands in data files, unchanged, each half of it by itself. Worlds and people
follow from the same draws as when they were written, so that what was measured in them then can be measured again.
"""
