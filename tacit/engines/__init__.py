"""Who does many tasks: processes of this machine, or Ray. Imports `base` alone: it knows nothing of the tasks."""
