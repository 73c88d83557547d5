"""The occupancy problem of Algorithm 4 for whoever wants the solver alone; see `tacit.planning.occupancy`."""

from tacit.planning.occupancy import OccupancySolution, solve_occupancy

__all__ = ["OccupancySolution", "solve_occupancy"]
