"""What a causal language model is asked: one question for the posterior, one for the policy (appendix C.3).

A prompt is the same for all candidates of a choice up to the candidate, which comes last but for the question
itself. So the model reads the common part once, however many candidates there are (`tacit.text.causal.packing`).
The words are ours, not the paper's.
"""

from __future__ import annotations

from typing import NamedTuple

from tacit.text.conversation import Conversation


class Prompt(NamedTuple):
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


def posterior_prompt(conversation: Conversation, feedback: str) -> Prompt:
    """Return the question whether the feedback fits a candidate: the inverse kinematics h(x, y, s).

    >>> from tacit.text.conversation import TextContext
    >>> print(posterior_prompt(Conversation(TextContext("A table?")), "Lovely!").text("Done."))
    A person and an assistant talk.
    Person: A table?
    What the assistant then did is not shown. The person reacted with: Lovely!
    Suppose the assistant did this: Done.
    Would that explain the reaction? Reply Yes or No.
    """
    reaction = f"reacted with: {feedback}" if feedback else "said nothing."
    hidden = f"What the assistant then did is not shown. The person {reaction}\n"
    return Prompt(
        opening(conversation),
        said(conversation),
        f"{hidden}Suppose the assistant did this:",
        "\nWould that explain the reaction? Reply Yes or No.",
    )


def policy_prompt(conversation: Conversation) -> Prompt:
    """Return the question whether a candidate is what the person wants next."""
    return Prompt(
        opening(conversation),
        said(conversation),
        "The assistant could now do this:",
        "\nIs that what this person would want? Reply Yes or No.",
    )


def opening(conversation: Conversation) -> str:
    """Return what a prompt begins with; it names the person's profile where there is one."""
    profile = conversation.context.profile
    about = f"About the person: {profile}\n" if profile else ""
    return f"A person and an assistant talk.\n{about}"


def said(conversation: Conversation) -> str:
    """Return the conversation, a line for everything said, oldest first."""
    lines = [f"Person: {conversation.context.request}"]
    for exchange in conversation.exchanges:
        lines += [f"Assistant: {exchange.said}", f"Person: {exchange.answer}"]
    return "".join(f"{line}\n" for line in lines)
