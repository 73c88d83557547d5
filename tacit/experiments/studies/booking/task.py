"""The task of the booking study: one text learner explores, then learns; its curves, numbers and examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.agent import Agent
from tacit.base.arrays import BoolArray
from tacit.engines.task import Report
from tacit.experiments.learning import as_decoded, average, condense, learn
from tacit.experiments.studies.booking.sweep import BookingSweep
from tacit.experiments.tasks import ENVIRONMENT_SEED, Played, StudyTask
from tacit.learning.episode import Episode
from tacit.simulate import Simulation, Source, Trace
from tacit.text.conversation import Reaction
from tacit.text.conversations import Conversations
from tacit.text.small.model import SmallModel
from tacit.text.stages import TextExploration, TextLearning, choices_of

LAST = 500
"""`last_500_reward` is over this many episodes, or fewer where there are not as many."""
EXAMPLES = 12
"""Conversations that a result keeps."""
EVERY = 25
"""Episodes between two reports of progress; a language model, which takes seconds for one, reports each."""


class Seen(NamedTuple):
    """A conversation that was played: the episode, what the person said of it, and what only the simulator knows."""

    episode: Episode
    feedback: str
    reward: float
    dialogue: str


def play_booking(sweep: BookingSweep, task: StudyTask, report: Report) -> Played:
    """Return the compact result of a task; chance follows from its seed as on layered environments."""
    seen: list[Seen] = []
    simulation = simulate(sweep, task.variant, task.learner, task.seed, seen)
    agent, exploration = simulation.agent, sweep.settings.exploration
    if isinstance(agent.stage, TextExploration):
        agent.stage.progress = lambda done, total, what: report(0, what)
    every = EVERY if talk_of(agent).settings.model == SmallModel.name else 1
    simulation.run(exploration, report, every=every)
    rate = learn(simulation, sweep.episodes, report, every)
    trace = as_counted(simulation.trace, exploration)
    result = condense(trace) | {"rate": rate}
    result["scalars"] |= count_decoding(trace)
    return Played(result | {"examples": pick_examples(sweep, task.variant, agent, seen)})


def simulate(sweep: BookingSweep, variant: str, name: str, seed: int, seen: list[Seen]) -> Simulation:
    """Return a simulation of a learner at its first episode; every conversation is added to `seen`."""
    learner = sweep.learner_of(name)

    def watch(episode: Any, source: Source) -> None:
        known = source.info["evaluation"]
        seen.append(Seen(episode, source.info["feedback"], float(known["reward"]), known["dialogue"]))

    source = learner.source(sweep.environment(variant))
    agent = learner.make(sweep.settings_of(name), seed)
    return Simulation(agent, source, seed + ENVIRONMENT_SEED, watch=watch)


def as_counted(trace: Trace, exploration: int) -> Trace:
    """Return the trace with its regrets, 1 - reward as the optimum is 1; exploration is its beginning for everyone."""
    regrets = [1.0 - reward for reward in trace.rewards]
    exploring = [number < exploration for number in range(len(trace.rewards))]
    return Trace(trace.rewards, trace.decoded, regrets, exploring)


def count_decoding(trace: Trace) -> dict[str, float | None]:
    """Return the reward of the last episodes, and what was decoded where the reward was 1 and where it was 0."""
    rewards, decoded, _, exploring = trace.arrays()
    true, meant = rewards[~exploring], as_decoded(decoded[~exploring])
    return {
        "last_500_reward": average(true[-LAST:]),
        "decoded_rewarded": average(meant[true == 1]),
        "decoded_unrewarded": average(meant[true == 0]),
    }


def pick_examples(
    sweep: BookingSweep, variant: str, agent: Agent, seen: Sequence[Seen]
) -> list[dict[str, Any]]:
    """Return some conversations, oldest first: of every stage, rewarded and not, and where decoding was wrong."""
    dialogues = {dialogue.id: dialogue for dialogue in sweep.dialogues[variant]}
    examples = []
    for number in choose(seen, sweep.settings.exploration):
        one = seen[number]
        question, booking = choices_of(one.episode)
        dialogue = dialogues[one.dialogue]
        examples.append(
            {
                "episode": number + 1,
                "stage": "exploration" if number < sweep.settings.exploration else "policy learning",
                "request": one.episode.encoded.request,
                "profile": one.episode.encoded.profile,
                "question": question.candidates[question.action],
                "answer": booking.conversation.exchanges[-1].answer,
                "booking": booking.candidates[booking.action],
                "feedback": one.feedback,
                "reward": one.reward,
                "right_question": dialogue.questions[question.action].correct,
                "right_booking": dialogue.bookings[booking.action].correct,
                **read_feedback(agent, one),
            }
        )
    return examples


def read_feedback(agent: Agent, one: Seen) -> dict[str, float | None]:
    """Return what an agent decodes feedback to and how sure it is; what it explored with, it decodes afterwards."""
    if not isinstance(agent.stage, TextLearning):
        return {"decoded": None, "confidence": None}
    assert one.episode.feedback is not None
    reaction = Reaction(choices_of(one.episode)[-1], one.episode.feedback)
    decoded = one.episode.decoded_reward
    return {
        "decoded": agent.stage.decode(reaction) if decoded is None else decoded,
        "confidence": find_confidence(agent.stage, reaction),
    }


def find_confidence(stage: TextLearning, reaction: Reaction) -> float | None:
    """Return how sure the small model is of a decoded reward; None where another model or a judge reads feedback."""
    if not isinstance(stage.model, SmallModel) or stage.settings.judge:
        return None
    return stage.model.confidence(reaction)


def talk_of(agent: Agent) -> Conversations:
    """Return the conversations that an agent learns."""
    assert isinstance(agent.world, Conversations)
    return agent.world


def choose(seen: Sequence[Seen], exploration: int) -> list[int]:
    """Return the numbers of `EXAMPLES` conversations (fewer where there are not as many), in order."""
    number = np.arange(len(seen))
    rewards = np.array([one.reward for one in seen])
    decoded = np.array([np.nan if (r := one.episode.decoded_reward) is None else r for one in seen])
    tenth = max((len(seen) - exploration) // 10, 1)
    early, late = (number >= exploration) & (number < exploration + tenth), number >= len(seen) - tenth
    wanted: list[tuple[BoolArray, int]] = [
        (np.abs(decoded - rewards) > 0.5, 3),
        *(((number < exploration) & (rewards == reward), 1) for reward in (0, 1)),
        *((stage & (rewards == reward), 2) for stage in (early, late) for reward in (0, 1)),
        (number >= exploration, EXAMPLES),
    ]
    chosen: dict[int, None] = {}
    for group, most in wanted:
        fresh = [int(one) for one in number[group] if int(one) not in chosen]
        chosen |= dict.fromkeys(spread_out(fresh, min(most, EXAMPLES - len(chosen))))
    return sorted(chosen)


def spread_out(numbers: Sequence[int], count: int) -> list[int]:
    """Return up to `count` of the numbers, evenly spread over them.

    >>> spread_out([1, 2, 3, 4, 5], 3)
    [1, 3, 5]
    """
    if not numbers or count < 1:
        return []
    places = np.linspace(0, len(numbers) - 1, min(count, len(numbers))).round().astype(int)
    return [numbers[place] for place in places]
