"""Handwritten digits as contexts and as feedback: the classic benchmark of interaction-grounded learning, multi-step."""
