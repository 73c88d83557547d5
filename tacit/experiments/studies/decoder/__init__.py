"""Figure 1: the reward decoder, and what estimating its input costs."""
