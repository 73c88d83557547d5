"""Rewards for logs: fit, label, diagnose, evaluate, train; tables for labels and vectors, and conversations.
Imports `logs`, `engines` and what is below them.
"""
