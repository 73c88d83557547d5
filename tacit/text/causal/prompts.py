"""What a causal language model reads of choices, remarks and profiles: its states at the ends are what heads read.

A choice is the same for all candidates up to the candidate, which comes last but for a few words that ask for a
verdict. So the model reads the common part once, however many candidates there are (`tacit.text.causal.packing`).
Remarks and profiles are read as the small model reads them. The words are ours, not the paper's.
"""

from __future__ import annotations

from typing import NamedTuple

from tacit.text.conversation import Conversation
from tacit.text.small.encoder import PROFILE_PROMPT, REACTION_PROMPT

PLACE = "{}"
"""Where a prompt has the text that it is about."""
PROMPTS = {"remark": REACTION_PROMPT, "profile": PROFILE_PROMPT}
"""How texts are read alone, by what they are."""


class ChoicePrompt(NamedTuple):
    """The parts of a prompt, in order; the candidate goes between `lead` and `question`.

    Where all is too long for the model, the oldest part of `said` is left out, and nothing else ever is.
    """

    opening: str
    said: str
    lead: str
    question: str

    def text(self, candidate: str) -> str:
        """Return the whole prompt about one candidate."""
        return f"{self.opening}{self.said}{self.lead} {candidate}{self.question}"


def choice_prompt(conversation: Conversation) -> ChoicePrompt:
    """Return what is read of a conversation and what could be said next.

    >>> from tacit.text.conversation import TextContext
    >>> print(choice_prompt(Conversation(TextContext("A table?"))).text("Done."))
    A person and an assistant talk.
    Person: A table?
    Assistant: Done.
    For this person that is
    """
    profile = conversation.context.profile
    about = f"About the person: {profile}\n" if profile else ""
    lines = [f"Person: {conversation.context.request}"]
    for exchange in conversation.exchanges:
        lines += [f"Assistant: {exchange.said}", f"Person: {exchange.answer}"]
    said = "".join(f"{line}\n" for line in lines)
    return ChoicePrompt(
        f"A person and an assistant talk.\n{about}", said, "Assistant:", "\nFor this person that is"
    )
