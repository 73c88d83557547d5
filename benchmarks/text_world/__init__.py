"""Worlds of conversations that judge a text learner: what people want, what may be offered, what they say then.

Each world is drawn by seed from one of two halves of its vocabulary, so that what judges was never met by whoever
chooses; see `halves`. Imports `tacit` by its door, and `journal`.
"""
