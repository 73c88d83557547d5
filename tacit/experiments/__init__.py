"""The figures: learners x environments x seeds, their budgets, pictures and reports."""
