"""What a text agent reads: who speaks, what was said, which candidates it may choose from (section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tacit.base.saved import Saved
from tacit.base.validation import check_encodable
from tacit.problem.silence import SILENCE


@dataclass(frozen=True)
class TextContext:
    """The context x: the person's first `request`, and a `profile` of who speaks, empty or None where there is none.

    The same words may mean one thing from one profile and another from the next; what they mean is learned.

    >>> TextContext.read("a table for two, please")
    TextContext(request='a table for two, please', profile='')
    """

    request: str
    profile: str = ""

    def __post_init__(self) -> None:
        check_text("request", self.request)
        check_text("profile", self.profile, may_be_empty=True)

    @classmethod
    def read(cls, context: Any) -> TextContext:
        """Return the context from a string, a mapping with `request` and perhaps `profile`, or a context."""
        if isinstance(context, TextContext):
            return context
        if isinstance(context, str):
            context = {"request": context}
        if not isinstance(context, Mapping) or not {"request"} <= set(context) <= {"request", "profile"}:
            raise ValueError(
                f"a text context is a string, or a mapping with `request` and perhaps `profile`, got {context!r}"
            )
        profile = context.get("profile")
        return cls(context["request"], "" if profile is None else profile)

    def to_json(self) -> dict[str, str]:
        """Return the mapping that `read` takes."""
        return {"request": self.request, "profile": self.profile}


class Exchange(NamedTuple):
    """One turn: what the agent said, and what the person answered."""

    said: str
    answer: str


class Conversation(NamedTuple):
    """The state s: everything said before a choice; the context, then the exchanges, oldest first."""

    context: TextContext
    exchanges: tuple[Exchange, ...] = ()

    @property
    def utterances(self) -> tuple[str, ...]:
        """Return what the person has said, one text an utterance, the request first."""
        return (self.context.request, *(exchange.answer for exchange in self.exchanges))

    def to_json(self) -> dict[str, Any]:
        """Return plain values that `read` takes."""
        return {
            "context": self.context.to_json(),
            "exchanges": [list(exchange) for exchange in self.exchanges],
        }

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Conversation:
        """Return the conversation that `to_json` wrote."""
        saved = Saved.of(values)
        entries = saved.entries("exchanges")
        exchanges = [entries.texts(i) for i in entries]
        saved.check(all(len(exchange) == 2 for exchange in exchanges), "exchanges", "pairs of texts")
        return cls(saved.part("context").make(TextContext), tuple(Exchange(*each) for each in exchanges))


class Choice(NamedTuple):
    """One step of an episode: the conversation, the candidates on offer, and the index of the one taken.

    `probability` is that with which it was taken.
    """

    conversation: Conversation
    candidates: tuple[str, ...]
    action: int
    probability: float


def restore_choice(state: Mapping[str, Any]) -> Choice:
    """Return the choice whose fields were saved: one of candidates that differ, with a probability above 0."""
    saved = Saved.of(state)
    conversation, candidates = Conversation.read(saved.part("conversation")), saved.texts("candidates")
    action = saved.whole("action", most=len(check_candidates(candidates)) - 1)
    probability = saved.number("probability", 0, 1)
    saved.check(probability > 0, "probability", "above 0")
    return Choice(conversation, candidates, action, probability)


class Reaction(NamedTuple):
    """A tuple of the paper, (x, s, a, y): the last choice of an episode and the feedback that followed.

    Silence is the empty remark, which nobody can make. `before` are the choices that led there, where they are known.
    """

    choice: Choice
    feedback: str
    before: tuple[Choice, ...] = ()

    @property
    def words(self) -> str:
        """Return the feedback as it is shown."""
        return self.feedback or SILENCE


NO_REMARK = ""
"""Silence as a remark: models read it as they read any other, and it is always the same."""


def read_remark(feedback: Any) -> str:
    """Return feedback, which must be a text, as a remark; of None the one that silence is.

    >>> read_remark("Lovely!"), read_remark(None)
    ('Lovely!', '')
    """
    return NO_REMARK if feedback is None else check_text("feedback", feedback)


def check_text(what: str, text: Any, may_be_empty: bool = False) -> str:
    """Return `text`, or raise ValueError unless it is a string that UTF-8 can hold, with something in it."""
    if not isinstance(text, str) or not (may_be_empty or text.strip()):
        raise ValueError(f"the {what} must be a text that is not empty, got {text!r}")
    return check_encodable(f"the {what}", text)


def check_candidates(candidates: Sequence[Any]) -> tuple[str, ...]:
    """Return the candidates, or raise ValueError unless they are two texts or more, each only once.

    >>> check_candidates(["yes", "no"])
    ('yes', 'no')
    """
    if isinstance(candidates, str) or not isinstance(candidates, Sequence) or len(candidates) < 2:
        raise ValueError(
            f"a choice needs at least 2 candidates, got {candidates!r}; offer what could be said instead"
        )
    texts = tuple(check_text(f"candidate {i}", text) for i, text in enumerate(candidates))
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise ValueError(f"candidates must differ, got {twice!r} {texts.count(twice)} times; offer each once")
    return texts
