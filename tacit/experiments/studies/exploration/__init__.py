"""What exploration costs: reward over all episodes against how many were spent on it."""
