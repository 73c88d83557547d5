"""Who does many tasks: this process, others, or Ray. Imports `base` alone: it knows nothing of what the tasks are."""
