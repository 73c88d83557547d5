"""From feedback to rewards: tuples, the posterior over actions, the decoder J, and judgements of what each ending
is. Imports `base` and `problem`.
"""
