"""Progress: what is done, and what is left."""

from tacit.experiments.progress import Tally
from tacit.experiments.tasks import StudyTask


def test_tally_guesses_what_is_left():
    tasks = [StudyTask("v", learner, seed, "") for seed in range(2) for learner in ("a", "b")]
    tally = Tally(dict.fromkeys(tasks, 100))
    assert (tally.done, tally.total, tally.seconds_left) == (0, 400, None)
    tally.begin(tasks[0])
    tally.advance(tasks[0], 150, "homing")
    assert (tally.done, tally.total) == (150, 450)
    tally.end(tasks[0])
    assert tally.total == 150 + 100 + 150 + 100  # the other "a" is now expected to take as long
    assert (tally.over, tally.tasks, tally.running) == (1, 4, {})


def test_tally_of_tasks_that_report_nothing():
    well, failed, waiting = (StudyTask("v", learner, 0, "") for learner in ("a", "b", "c"))
    tally = Tally(dict.fromkeys((well, failed, waiting), 100))
    for task in (well, failed):
        tally.begin(task)
        tally.end(task, failed=task is failed)
    assert (tally.done, tally.total, tally.over) == (100, 200, 2)
