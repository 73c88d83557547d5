"""Learning from conversations: text in, text out, feedback in people's own words (section 5.2, appendix C.3)."""

from tacit.text.agent import TextAgent
from tacit.text.conversation import TextContext
from tacit.text.stages import TextSettings

__all__ = ["TextAgent", "TextContext", "TextSettings"]
