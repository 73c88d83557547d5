"""Handwritten digits as contexts and feedback: the classic benchmark of interaction-grounded learning, multi-step."""
