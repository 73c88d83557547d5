"""Policies to evaluate on logs: the logged one, uniform, a saved agent's, or a table in JSON.

A table gives the probabilities of each state's actions, the same for every context, or one table for each:

    {"start": {"ask": 0.9, "tell": 0.1}, ...}        {"contexts": {"new": {"start": {...}, ...}, "old": {...}}}
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from tacit.agent import Agent
from tacit.base.arrays import FloatArray
from tacit.learning.stage import best_policy
from tacit.logs.files import check_file
from tacit.logs.record import LogError
from tacit.offline.evaluation import LOGGED, UNIFORM, PolicyChoice, PolicyTable, StateTable
from tacit.problem.growth import closed
from tacit.problem.layout import Layout
from tacit.problem.mdp import check_policy
from tacit.problem.spaces import Encoded, Finite

Policy = Callable[[Encoded], FloatArray]
"""From an encoded context to the probabilities of each action, (H, S, K)."""


def find_policy(layout: Layout, choice: PolicyChoice) -> Policy | None:
    """Return the policy that is meant: a table, an agent, "uniform", or a file of either; None for "logged".

    >>> layout = Layout.regular([1], n_actions=2, n_contexts=1, n_feedback=2)
    >>> find_policy(layout, {"0": {"0": 0.9, "1": 0.1}})(0)
    array([[[0.9, 0.1]]])
    """
    if isinstance(choice, Mapping):
        return table_policy(layout, choice)
    if isinstance(choice, Agent):
        return agent_policy(layout, choice)
    if choice == LOGGED:
        return None
    if choice == UNIFORM:
        return lambda context: layout.uniform_policy
    path = Path(choice)
    if path.suffix == ".json":
        return table_policy(layout, _load_json(path))
    if not path.exists():
        raise LogError(
            f"a policy must be 'logged', 'uniform', a table in .json or a saved agent, got {os.fspath(choice)!r}, "
            "which is not a file; check the path"
        )
    return agent_policy(layout, Agent.load(path))


def agent_policy(layout: Layout, agent: Agent) -> Policy:
    """Return what an agent would play now; it must have been made for the same layout."""
    theirs = closed(agent.layout)
    if (theirs.states, theirs.actions, theirs.contexts, theirs.can_end) != (
        layout.states,
        layout.actions,
        layout.contexts,
        layout.can_end,
    ):
        raise LogError(
            f"an agent's layout must be the model's, got one of {theirs.horizon} layers with other states, actions or "
            "contexts; train one on these logs, or fit the model with the agent's layout"
        )
    return lambda context: best_policy(agent.stage, context)


def table_policy(layout: Layout, table: PolicyTable) -> Policy:
    """Return the policy of a table; every state of the layout must be in it."""
    tables = cast(Mapping[str, StateTable] | None, table.get("contexts"))
    if tables is None:
        policy = _read_table(layout, cast(StateTable, table))
        return lambda context: policy
    if not isinstance(layout.contexts, Finite):
        raise LogError(
            "a table for each context needs finite contexts, the logs have vectors; give one table for all"
        )
    labels = layout.contexts.labels
    missing = [label for label in labels if str(label) not in tables]
    if missing:
        raise LogError(f"a policy must have a table for every context, it lacks {missing[:3]}; add them")
    policies = [_read_table(layout, tables[str(label)]) for label in labels]
    return lambda context: policies[int(context)]


def stack_policies(policy: Policy, contexts: Sequence[Encoded]) -> FloatArray:
    """Return the policies of contexts, (n, H, S, K)."""
    return np.stack([policy(context) for context in contexts])


def _read_table(layout: Layout, table: StateTable) -> FloatArray:
    policy = np.zeros(layout.mask.shape)
    policy[layout.ended >= 0, layout.ended[layout.ended >= 0], 0] = 1.0
    for h, layer in enumerate(layout.states):
        for s in range(len(layer)):
            state = layout.key(h, s)
            row = table.get(str(state))
            if row is None and len(layout.actions[h][s]) == 1:
                row = {str(layout.actions[h][s][0]): 1.0}
            if row is None:
                raise LogError(f"a policy must say what to do in every state, it lacks {state!r}; add it")
            known = {str(action): a for a, action in enumerate(layout.actions[h][s])}
            if not set(row) <= set(known):
                extra = sorted(set(row) - set(known))
                raise LogError(
                    f"a policy must take actions of the layout, in {state!r} it has {extra}; see the model"
                )
            for action, chance in row.items():
                policy[h, s, known[action]] = chance
    try:
        check_policy(layout, policy)
    except ValueError as error:
        raise LogError(str(error)) from None
    return policy


def _load_json(path: Path) -> Any:
    check_file(path)
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise LogError(
            f"a policy's table must be a JSON file, {str(path)!r} is not ({error}); see the format"
        ) from None
