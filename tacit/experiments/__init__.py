"""The studies behind `tacit reproduce`: their sweeps, tasks, pictures and pages. Imports everything but `cli`."""
