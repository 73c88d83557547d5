"""What pages and pictures share: palette, page templates, intervals in words. Imports `base` to `trust`, no learner."""
