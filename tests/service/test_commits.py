"""Group commit: those who ask again at once are waited for, and one who asks alone never waits; who appends."""

import asyncio
import threading
import time

import pytest

from tacit.service.commits import GroupCommit
from tacit.service.journal import JournalEvent, StoreError

EVENT = JournalEvent(1, "e", "act", b"{}", 0.0)
CLIENTS, ROUNDS = 8, 10


class SlowStore:
    """A store whose appends take a while."""

    def __init__(self, seconds, at_hand=True):
        self.seconds, self.at_hand, self.groups, self.threads = seconds, at_hand, [], []

    def append(self, events):
        self.threads.append(threading.current_thread())
        time.sleep(self.seconds)
        self.groups.append(len(events))
        return list(range(len(events)))


class Agent:
    position = 0


async def ask(commits, pause):
    """Ask again and again, each time `pause` after an answer."""
    loop = asyncio.get_running_loop()
    for _ in range(ROUNDS):
        await asyncio.sleep(pause)
        kept = loop.create_future()
        commits.put(Agent(), [EVENT], kept.set_result)
        assert await kept is None


def play(store, clients):
    async def run():
        commits = GroupCommit(store, asyncio.get_running_loop(), lambda error: None)
        begin = time.monotonic()
        await asyncio.gather(*(ask(commits, pause) for pause in clients))
        taken = time.monotonic() - begin
        await commits.close()
        return taken

    return asyncio.run(run())


def test_those_who_were_just_answered_are_waited_for():
    store = SlowStore(0.04)
    play(store, [0.001 * n for n in range(CLIENTS)])
    assert sum(store.groups) == CLIENTS * ROUNDS
    assert (
        len(store.groups) <= 1.5 * ROUNDS
    )  # without a pause those who are late make a group of their own, each time


def test_one_who_asks_alone_waits_for_the_disk_and_nothing_else():
    store = SlowStore(0.02)
    taken = play(store, [0.0])
    assert store.groups == [1] * ROUNDS
    assert taken < 1.2 * 0.02 * ROUNDS + 0.1


def test_one_who_cannot_be_told_keeps_nobody_else_from_it():
    faults = []

    async def run():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: faults.append(context["exception"]))
        commits, told = GroupCommit(SlowStore(0.0), loop, lambda error: None), loop.create_future()
        commits.put(Agent(), [EVENT], lambda error: 1 / 0)
        commits.put(Agent(), [EVENT], told.set_result)
        assert await asyncio.wait_for(told, 10) is None
        await commits.close()

    asyncio.run(run())
    assert [type(fault) for fault in faults] == [ZeroDivisionError]


@pytest.mark.parametrize(
    ("store", "here"), [(SlowStore(0.0), 7), (SlowStore(0.0, at_hand=False), 0), (SlowStore(0.002), 0)]
)
def test_the_event_loop_waits_for_a_quick_disk_at_hand_and_for_no_other(store, here):
    play(store, [0.0])
    assert store.threads[0] is not threading.current_thread()  # nobody knows yet how quick it is
    appended = [thread is threading.current_thread() for thread in store.threads]
    assert sum(appended) >= here if here else not any(appended)


def test_a_quick_disk_that_fails_refuses_and_is_waited_for_no_more_before_it_resumes():
    class Failing(SlowStore):
        def append(self, events):
            positions = super().append(events)
            if len(self.groups) == 5:
                raise StoreError("the disk is full")
            return positions

    store, failures, heard = Failing(0.0), [], []

    async def run():
        commits = GroupCommit(store, asyncio.get_running_loop(), failures.append)
        for _ in range(5):
            kept = asyncio.get_running_loop().create_future()
            commits.put(Agent(), [EVENT], kept.set_result)
            heard.append(await kept)
        commits.put(Agent(), [EVENT], heard.append)
        assert heard[-1] is heard[-2] is commits.failure
        commits.resume()
        kept = asyncio.get_running_loop().create_future()
        commits.put(Agent(), [EVENT], kept.set_result)
        assert await kept is None
        await commits.close()

    asyncio.run(run())
    assert heard[:4] == [None] * 4
    assert failures == heard[4:5]
