"""Where believing the feedback fails: the synthetic MDP and three others, shown as `synthetic` is."""
