"""The task of the digits: a learner plays as in every layered study, then its policies meet pictures held out."""

from __future__ import annotations

from functools import partial

from tacit.engines.task import Report
from tacit.envs.digits import digits_mdp, load_pictures, value_by_digit
from tacit.experiments.layered.playing import keep_agent, play_whole
from tacit.experiments.layered.sweep import LayeredSweep
from tacit.experiments.tasks import Played, StudyTask
from tacit.learning.stage import best_policy


def play_digits(sweep: LayeredSweep, task: StudyTask, report: Report) -> Played:
    """Return the result of a task with `held_out`, the value of the final policy by digit, (10,), and its agent.

    A picture to learn from comes by a dozen times in a run, and could be known by heart; one held out never came by.
    """
    result, agent = play_whole(sweep, task, report)
    _, held_out = load_pictures(task.variant).split()
    policy_of = partial(best_policy, agent.stage)
    result["held_out"] = value_by_digit(digits_mdp(held_out.dimension), held_out, policy_of)
    return keep_agent(task, result, agent)
