"""The stages of Algorithm 1, and Tacit's own: what plans episodes and learns from them. Imports `planning`,
`decoding`, `trust` and what is below them.
"""
