"""Learning from conversations: text in, text out, feedback in people's own words (section 5.2, appendix C.3)."""
