"""Real conversations: what was said next as feedback, people's ratings of it held back to score who reads it."""
