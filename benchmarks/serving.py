"""The service beside an empty route of its own framework, and frameworks beside each other, in one run.

Both servers are up, and in short rounds by turns a process of its own asks the empty route (JSON in, JSON out), and
plays whole episodes (begin, three actions, feedback) of an agent that counts, over 16 and over 64 connections: other
work on the machine meets both alike. Printed are requests a second, how long answers take, microseconds of the server's
processor for a request, and what share of the empty route the service bears. Then 500 episodes a second: of an agent
that counts; of one that learns from vectors, whose fits run beside; of one that counts while the conversations of
another agent are fitted. Last the empty route in other frameworks. Asked are half of what the empty route bears, and a
99th percentile below 10 ms at 500 episodes a second. Every answer waits for the disk, so how long a write takes is
printed, too; `--data` names a folder on another disk, or in memory, to tell apart what the disk costs.

Run: python benchmarks/serving.py [PYTHON OF THE PEERS] [--episodes N] [--data FOLDER]; `make bench` sets up both.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tacit.service.calls import Call
from tacit.service.load import Load, Loader, Target, Wire, describe_agent, find_environment
from tacit.text.settings import TextSettings

CONNECTIONS = (16, 64)
ROUNDS = 4
ASKED = 500.0
"""Episodes a second."""
PEERS = ("starlette", "fastapi", "litestar", "granian")
EMPTY = Path(__file__).parent / "peers" / "empty_routes.py"
SERVICE = ("-m", "tacit.cli.start", "serve")
TICK = os.sysconf("SC_CLK_TCK")


class Row(NamedTuple):
    """What one server bore: requests a second, percentiles of an answer in seconds, processor time of a request."""

    rate: float
    p50: float
    p99: float
    processor: float
    errors: int = 0

    def __str__(self) -> str:
        return (
            f"{self.rate:>8,.0f} requests/s   p50 {self.p50 * 1e3:6.2f} ms   p99 {self.p99 * 1e3:6.2f} ms   "
            f"{self.processor * 1e6:5.0f} us of processor   {self.errors} errors"
        )


@contextmanager
def server(*command: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Give the port and process of a server; `{port}` in its command stands for the port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [word.format(port=port) for word in command], stdout=subprocess.DEVNULL, cwd=EMPTY.parent
    )
    try:
        for _ in range(2_000):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield port, process
    finally:
        process.terminate()
        process.wait()


def processor_time(pid: int) -> float:
    """Return the seconds of processor that a process and its children have used."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")  # each has those that it began
    family = [pid, *(int(child) for thread in threads for child in thread.read_text().split())]
    fields = [Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in family]
    return sum(int(field[11]) + int(field[12]) for field in fields) / TICK


async def hammer(port: int, requests: int, connections: int) -> list[float]:
    """Return how long each of many requests to the empty route took."""
    address, loop, taken = Target.of(f"http://127.0.0.1:{port}"), asyncio.get_running_loop(), list[float]()
    request = address.write(Call("POST", "/empty", dict, b'{"step":1,"state":3}'))

    async def keep_asking() -> None:
        _, line = await loop.create_connection(Wire, "127.0.0.1", port)
        for _ in range(requests // connections):
            begin = time.perf_counter()
            status, _ = await line.ask(request)
            assert status == 200, status
            taken.append(time.perf_counter() - begin)
        line.close()

    await asyncio.gather(*(keep_asking() for _ in range(connections)))
    return taken


def measure_empty(port: int, pid: int, requests: int, connections: int) -> Row:
    """Return what the empty route of a server bears."""
    used, begin = processor_time(pid), time.perf_counter()
    taken = asyncio.run(hammer(port, requests, connections))
    seconds, used = time.perf_counter() - begin, processor_time(pid) - used
    p50, p99 = np.percentile(taken, (50, 99))
    return Row(len(taken) / seconds, p50, p99, used / len(taken))


def measure_framework(python: str, name: str, requests: int) -> Row:
    """Return what the empty route of a framework bears."""
    with server(python, str(EMPTY), name, "{port}") as (port, process):
        asyncio.run(hammer(port, requests // 10, CONNECTIONS[-1]))
        return measure_empty(port, process.pid, requests, CONNECTIONS[-1])


async def prepare(port: int, env: str) -> Loader:
    """Return a loader whose agent is there."""
    loader = Loader(f"http://127.0.0.1:{port}", env)
    await loader.prepare(describe_agent(find_environment(env), seed=0))
    return loader


async def play(loader: Loader, env: str, episodes: int, connections: int, rate: float = 0.0) -> Load:
    """Return what so many episodes came to, at most `rate` a second if that is not 0."""
    return await loader.run(lambda: find_environment(env), episodes, connections, seed=1_000_000, rate=rate)


def measure_episodes(
    port: int, pid: int, env: str, episodes: int, connections: int, rate: float = 0.0
) -> Row:
    """Return what a service bears in whole episodes; percentiles are those of a decision."""
    loader = asyncio.run(prepare(port, env))
    used = processor_time(pid)
    load = asyncio.run(play(loader, env, episodes, connections, rate))
    used = processor_time(pid) - used
    p50, p99 = np.percentile(load.timings["act"], (50, 99))
    return Row(load.requests / load.seconds, p50, p99, used / load.requests, sum(load.errors.values()))


@contextmanager
def service(data: str | None) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Give the port and process of `tacit serve`, with a journal of its own in a folder."""
    with (
        tempfile.TemporaryDirectory(dir=data) as folder,
        server(sys.executable, *SERVICE, "--port", "{port}", "--data", folder) as started,
    ):
        yield started


def measure_disk(data: str | None, writes: int = 200) -> tuple[float, float]:
    """Return how long this machine's disk takes for a small write, in seconds: the median and the 99th percentile."""
    taken = []
    with tempfile.NamedTemporaryFile(buffering=0, dir=data) as file:
        for _ in range(writes):
            file.write(bytes(8192))
            begin = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - begin)
    p50, p99 = np.percentile(taken, (50, 99))
    return p50, p99


def measure_asked(env: str, episodes: int, data: str | None, beside: str = "") -> Row:
    """Return how a service bears the episodes a second that are asked for.

    With conversations `beside`, so many were played before that their fit runs meanwhile.
    """
    with service(data) as (port, process):
        measure_episodes(port, process.pid, env, 100, CONNECTIONS[0])
        if beside:
            measure_episodes(port, process.pid, beside, TextSettings().exploration + 1, CONNECTIONS[0])
        return measure_episodes(port, process.pid, env, episodes, CONNECTIONS[-1], ASKED)


def compare(connections: int, episodes: int, data: str | None) -> None:
    """Print what an empty route and the service bear, by turns, and the share of each round."""
    rounds: list[tuple[Row, Row]] = []
    bare = server(sys.executable, str(EMPTY), "starlette", "{port}")
    with bare as (empty, process), service(data) as (port, serving):
        for _ in range(ROUNDS + 1):  # the first warms up both
            row = measure_empty(empty, process.pid, 5 * episodes, connections)
            rounds.append((row, measure_episodes(port, serving.pid, "synthetic", episodes, connections)))
    del rounds[0]
    print(f"{f'empty route, {connections} connections':<40}{middle([row for row, _ in rounds])}")
    print(f"{f'whole episodes, {connections} connections':<40}{middle([whole for _, whole in rounds])}")
    shares = sorted(whole.rate / row.rate for row, whole in rounds)
    processor = sorted(row.processor / whole.processor for row, whole in rounds)
    print(
        f"{'':<40}{np.median(shares):.2f} of the empty route ({shares[0]:.2f} to {shares[-1]:.2f}); "
        f"by processor {np.median(processor):.2f} ({processor[0]:.2f} to {processor[-1]:.2f})"
    )


def middle(rows: list[Row]) -> Row:
    """Return the medians of rounds, and all their errors."""
    rate, p50, p99, processor, _ = map(float, np.median(np.array(rows, float), axis=0))
    return Row(rate, p50, p99, processor, sum(row.errors for row in rows))


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("peers", nargs="?", help="the Python that has the other frameworks")
    parser.add_argument("--episodes", type=int, default=5_000)
    parser.add_argument("--data", help="a folder for the journals, on the disk that is to be measured")
    given = parser.parse_args()
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    disk = [1e3 * seconds for seconds in measure_disk(given.data)]
    print(f"{'one write to this disk':<40}p50 {disk[0]:6.2f} ms   p99 {disk[1]:6.2f} ms")
    for connections in CONNECTIONS:
        compare(connections, given.episodes // 2, given.data)
    for env in ("synthetic", "vectors"):
        print(f"{f'{ASKED:.0f} episodes/s, {env}':<40}{measure_asked(env, given.episodes, given.data)}")
    talking = measure_asked("synthetic", given.episodes, given.data, beside="booking")
    print(f"{f'{ASKED:.0f} episodes/s, a text fit beside':<40}{talking}")
    for name in PEERS if given.peers else ():
        print(f"{'empty route, ' + name:<40}{measure_framework(given.peers, name, 5 * given.episodes)}")


if __name__ == "__main__":
    main()
