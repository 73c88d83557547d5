"""What a problem is: spaces of contexts and feedback, the layout that an agent is told, and the true model that
only simulations have. Imports `base`.
"""
