"""The learners that Tacit is shown beside, through the same agent."""
