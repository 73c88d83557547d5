"""Worlds written by somebody who has not seen the learner: what an independent examiner asks of it."""
