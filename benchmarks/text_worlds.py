"""Tacit where requests, candidates and remarks are sentences: six worlds of one turn, errands of several, noise.

Four candidates out of a catalogue, one turn, or errands of three and four turns. For each family of worlds and
300, 1,000 and 3,000 episodes: what is earned online over all episodes, in the last tenth and, by the best candidate, of
people who come afterwards; what a policy earns that is trained on a uniform log; beside it a learner that sees the
reward, and uniform play; how far decoded and true reward are apart; how well confidence is calibrated; what the verdict
is. Worlds are drawn by seed. Those that judge have other catalogues, phrasings and remarks than `--choose` draws.
Worlds of `--families stranger` were written from the words of the task alone, by somebody who had not seen the learner;
so were those of `--families guest`, by somebody else: their catalogues are larger, some conversations end early, and
they have no halves. Nor have those of `--families visitor`, a third one's.

Run: python benchmarks/text_worlds.py [--choose] [--families tools style.plain] [--seeds 3] [--episodes 300 1000]
     [--learners tacit tacit.logs] [--alone] [--jobs 2] [--out FILE]. Every result is written as soon as it is there;
     run again to go on. Results of learners that see the reward stay while only Tacit changes: they have a file of
     their own.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from journal import Journal, Task, digest_code, digest_packages, is_asked, make_parser, play_open
from text_world.families import FAMILIES, LENGTHS
from text_world.halves import CHOOSE, JUDGE
from text_world.playing import CEILING, OURS, make_work
from text_world.table import write_table


def list_tasks(options: argparse.Namespace) -> list[Task]:
    """Return the runs that were asked for; families are named whole or by what stands before a full stop."""
    first = CHOOSE if options.choose else JUDGE
    return [
        Task(name, seed, learner, episodes)
        for name, family in FAMILIES.items()
        if is_asked(name, options.families)
        for seed in range(first, first + (options.seeds or family.seeds))
        for episodes in options.episodes
        for learner in options.learners or (OURS if options.alone or family.noise else OURS + CEILING)
    ]


def read_options() -> argparse.Namespace:
    parser = make_parser(__doc__, list(FAMILIES), "5, of noise 20", "text_worlds", LENGTHS)
    parser.add_argument("--learners", nargs="*", choices=OURS + CEILING, help="by default all")
    parser.add_argument("--alone", action="store_true", help="without learners that see the reward")
    return parser.parse_args()


def main(options: argparse.Namespace) -> None:
    named = "choose.json" if options.choose else "judge.json"
    out = options.out or Path("results") / "text_worlds" / named
    tasks = list_tasks(options)
    if not tasks:
        raise SystemExit(f"no family is called {options.families}; there are {', '.join(FAMILIES)}")
    rows = []
    for learners, path, code in (
        (CEILING, out.with_suffix(".ceiling.json"), digest_packages("text_world")),
        (OURS, out, digest_code("text_world", learner="tacit.experiments.text_learners")),
    ):
        asked = [task for task in tasks if task.learner in learners]
        if asked:
            rows += play_open(Journal(path, Task, code), asked, make_work, options.jobs, options.table)
    print("\n" + write_table(rows))


if __name__ == "__main__":
    main(read_options())
