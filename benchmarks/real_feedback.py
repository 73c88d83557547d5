"""Tacit where feedback is as it really is: silence, many words, overlap, locks, drift, endings at any turn, verdicts.

For each family of problems: how much of the way from uniform play to the optimum is earned, in the last tenth and over
all episodes, from the exact values of the policies played, beside a learner that sees the reward; what the verdict is;
how far decoded and true reward are apart; how many episodes explore; and the slowest `end()`. Problems are drawn by
seed. Those that judge are never looked at while anything is chosen; `--choose` draws the others.

Run: python benchmarks/real_feedback.py [--choose] [--families silence words.20] [--seeds 3] [--episodes 8000]
     [--jobs 2] [--today] [--out FILE]. Every result is written as soon as it is there; run again to go on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from journal import Journal, digest_code, is_asked, make_parser, play_open
from real_world.families import CHOOSE, EPISODES, FAMILIES, JUDGE
from real_world.playing import CEILING, Task, make_work
from real_world.table import write_table


def list_tasks(options: argparse.Namespace) -> list[Task]:
    """Return the runs that were asked for; families are named whole or by what stands before a full stop."""
    first = CHOOSE if options.choose else JUDGE
    tasks = []
    for name, family in FAMILIES.items():
        if not is_asked(name, options.families):
            continue
        episodes = family.episodes if family.fixed else max(family.episodes * options.episodes // EPISODES, 1)
        for seed in range(first, first + (options.seeds or family.seeds)):
            learners = ("tacit", CEILING) if family.asks == "share" and not options.alone else ("tacit",)
            tasks += [Task(name, seed, learner, episodes, options.today) for learner in learners]
    return tasks


def read_options() -> argparse.Namespace:
    parser = make_parser(__doc__, list(FAMILIES), "10, for verdicts 100", "real_feedback", EPISODES)
    parser.add_argument(
        "--today", action="store_true", help="as if silence, outcomes, endings were unheard of"
    )
    parser.add_argument("--alone", action="store_true", help="without the learner that sees the reward")
    return parser.parse_args()


def main(options: argparse.Namespace) -> None:
    named = "choose.json" if options.choose else "judge.json"
    out = options.out or Path("results") / "real_feedback" / named
    journal = Journal(out, Task, digest_code("real_world"))
    tasks = list_tasks(options)
    if not tasks:
        raise SystemExit(f"no family is called {options.families}; there are {', '.join(FAMILIES)}")
    rows = play_open(journal, tasks, make_work, options.jobs, options.table)
    print("\n" + write_table(rows))


if __name__ == "__main__":
    main(read_options())
