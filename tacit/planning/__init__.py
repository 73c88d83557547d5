"""From estimates to policies: EULER, hope and when it pays to explore, reachability, transition counts, regression
oracles, schedules, and the occupancy problem with its solver. Imports `base` and `problem`.
"""
