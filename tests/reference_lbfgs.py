"""The slow twin of `tacit.text.small.lbfgs`: SciPy's L-BFGS-B without bounds."""

from scipy.optimize import minimize


def find_lowest_slowly(objective, begin, steps):
    """Return where an objective with its slopes is least, or what was reached after so many steps."""
    return minimize(objective, begin, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
