"""From estimates to policies: EULER, reachability, transition counts, regression oracles, schedules, and the
occupancy problem with its solver. Imports `base` and `problem`.
"""
