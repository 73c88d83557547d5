"""Problems in which what is heard says nothing of any reward: nobody must be told that it works."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from context_world.problem import Problem, Words


def say_nothing(generator: np.random.Generator, problem: Problem) -> Problem:
    """Return a problem whose feedback is independent of everything: each way of speaking has an even chance."""
    ways = problem.people.meanings(problem.people.draw(generator, 1)).shape[1]
    people = replace(problem.people, meanings=lambda x: np.full((len(x), ways), 1 / ways))
    return say_who_they_are(generator, replace(problem, people=people))


def say_who_they_are(generator: np.random.Generator, problem: Problem) -> Problem:
    """Return a problem whose feedback depends on the way of speaking alone, not on what was done."""
    voice = problem.voice
    if isinstance(voice, Words):
        said = np.broadcast_to(voice.chances[:, :1, :1], voice.chances.shape)
        return replace(problem, voice=replace(voice, chances=said.copy()))
    heard = np.broadcast_to(voice.points[:, :1, :1], voice.points.shape)
    return replace(problem, voice=replace(voice, points=heard.copy()))
