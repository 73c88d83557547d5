"""How people begin a request, whatever it is about."""

OPENINGS = [
    "",
    "Hello there!",
    "Hi, a quick question.",
    "Good morning.",
    "Hey.",
    "I hope you can help me.",
    "Maybe you know this.",
    "Excuse me.",
    "Here is my situation.",
    "Could you help?",
    "So, listen.",
    "One thing.",
    "Good day to you.",
    "First time here.",
    "It's me again.",
    "Please advise.",
    "I have been wondering.",
    "Not sure where to ask.",
    "My turn, I guess.",
    "Short on patience today.",
    "Sorry to bother you.",
]
"""Each a sentence, one of them empty."""
