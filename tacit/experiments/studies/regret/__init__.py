"""How regret grows (Eq. 1), beside the rate of Theorem 4.3."""
