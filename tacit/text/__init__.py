"""Learning from conversations: text in, text out, feedback in people's own words (section 5.2, appendix C.3).

`Conversations` is the world that an agent learns; the models that read and choose are in `small` and `causal`. Imports
`learning` and what is below it.
"""

from tacit.text.conversation import TextContext
from tacit.text.conversations import Conversations
from tacit.text.settings import TextSettings

__all__ = ["Conversations", "TextContext", "TextSettings"]
