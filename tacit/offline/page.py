"""What the pages of `tacit diagnose` say of a verdict, for tables and for text alike."""

ANSWERS = {
    "works": "What people said in these logs can be turned into rewards.",
    "works with caution": "What people said can be turned into rewards, with the reservations below.",
    "not known yet": "Whether what people said can be turned into rewards these logs cannot tell yet.",
    "cannot work": "What people said in these logs cannot be turned into rewards as they stand.",
}
"""The verdicts, and what they mean to somebody who has not read the paper."""
