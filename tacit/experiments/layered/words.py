"""Who and what is who and what, for a reader who has not seen the paper."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.experiments.layered.problems import RANDOM

ENVIRONMENT_WORDS: Mapping[str, str] = {
    "synthetic": "The paper's setting: 70 % of the people say what they mean, 30 % the opposite.",
    "balanced": "Half of the people say what they mean, half the opposite.",
    "personal": "Half and half, and the best last action differs between the two kinds of people.",
    "flipped": "30 % of the people say what they mean, 70 % the opposite.",
    **{
        name: f"Random: {shape.layers} layers of up to {shape.states} states, {shape.actions} actions, "
        f"{shape.contexts} contexts, {shape.feedback_values} kinds of feedback."
        for name, (_, shape) in RANDOM.items()
    },
    "digits": "Contexts and feedback are pictures of 8 x 8 pixels; people with an even digit mean the opposite.",
    "mnist": "Contexts and feedback are pictures of 28 x 28 pixels; people with an even digit mean the opposite.",
}

LEARNER_WORDS: Mapping[str, str] = {
    "tacit": "Tacit with the paper's settings: explores, learns what feedback means, then learns what to do.",
    "tacit_fast": "Tacit with its own defaults: explores and learns in one, and is told no constants.",
    "oracle_reward": "Is told the true reward, which no real learner is. The ceiling.",
    "feedback_as_reward": "Believes the feedback: takes y for the reward, person by person.",
    "feedback_as_reward_blind": "Believes the feedback too, and takes everybody for the same person.",
    "last_step_igl": "Learns what feedback means as Tacit does, but improves its last action only.",
    "uniform": "Plays at random. The floor.",
}
