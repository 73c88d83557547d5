"""Episodes that happened, on disk: the format, files, survey, labels, conversions. Imports `learning` and below."""
