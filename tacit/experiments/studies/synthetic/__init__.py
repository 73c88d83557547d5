"""Figure 2a: learning without rewards on the paper's synthetic MDP."""
