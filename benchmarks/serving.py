"""The service beside an empty route of its own framework, and frameworks beside each other, in one run.

Prints requests a second and how long answers take, from a process of its own over 64 connections: an empty route (JSON
in, JSON out); whole episodes (begin, three actions, feedback) of an agent that counts, as many as it bears, then 500 a
second; the same 500 of one that learns from vectors, whose fits run beside, and of one that counts while another
agent's conversations are fitted; and the empty route in other frameworks. Asked are 500 episodes a second with a 99th
percentile below 10 ms, and half of what the empty route bears. Every answer waits for the disk, so how long that takes
is printed, too. Beside each: microseconds of the server's processor for a request, which other work on the machine
changes less than the time.

Run: python benchmarks/serving.py [PYTHON OF THE PEERS] [--episodes N]; `make bench` sets up both.
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
from tacit.service.load import Loader, Target, Wire, describe_agent, find_environment
from tacit.text.settings import TextSettings

CONNECTIONS = 64
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
    family = [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    fields = [Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in family]
    return sum(int(field[11]) + int(field[12]) for field in fields) / TICK


async def hammer(port: int, requests: int) -> list[float]:
    """Return how long each of many requests to the empty route took."""
    address, loop, taken = Target.of(f"http://127.0.0.1:{port}"), asyncio.get_running_loop(), list[float]()
    request = address.write(Call("POST", "/empty", dict, b'{"step":1,"state":3}'))

    async def keep_asking() -> None:
        _, line = await loop.create_connection(Wire, "127.0.0.1", port)
        for _ in range(requests // CONNECTIONS):
            begin = time.perf_counter()
            status, _ = await line.ask(request)
            assert status == 200, status
            taken.append(time.perf_counter() - begin)
        line.close()

    await asyncio.gather(*(keep_asking() for _ in range(CONNECTIONS)))
    return taken


def measure_empty(python: str, name: str, requests: int) -> Row:
    """Return what the empty route of a framework bears."""
    with server(python, str(EMPTY), name, "{port}") as (port, process):
        asyncio.run(hammer(port, requests // 10))
        used, begin = processor_time(process.pid), time.perf_counter()
        taken = asyncio.run(hammer(port, requests))
        seconds, used = time.perf_counter() - begin, processor_time(process.pid) - used
    p50, p99 = np.percentile(taken, (50, 99))
    return Row(len(taken) / seconds, p50, p99, used / len(taken))


async def play(port: int, env: str, episodes: int, rate: float) -> Loader:
    """Return the loader of so many episodes, at most `rate` a second if that is not 0."""
    loader = Loader(f"http://127.0.0.1:{port}", env)
    await loader.prepare(describe_agent(find_environment(env), seed=0))
    await loader.run(lambda: find_environment(env), episodes, CONNECTIONS, seed=1_000_000, rate=rate)
    return loader


def measure_disk(writes: int = 200) -> tuple[float, float]:
    """Return how long this machine's disk takes for a small write, in seconds: the median and the 99th percentile."""
    taken = []
    with tempfile.NamedTemporaryFile(buffering=0) as file:
        for _ in range(writes):
            file.write(bytes(8192))
            begin = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - begin)
    p50, p99 = np.percentile(taken, (50, 99))
    return p50, p99


def measure_service(env: str, episodes: int, rate: float = 0.0, beside: str = "") -> Row:
    """Return what the service bears in whole episodes; percentiles are those of a decision.

    With conversations `beside`, so many were played before that their fit runs meanwhile.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = (sys.executable, *SERVICE, "--port", "{port}", "--data", folder)
        with server(*command) as (port, process):
            asyncio.run(play(port, env, 100, 0.0))
            if beside:
                asyncio.run(play(port, beside, TextSettings().exploration + 1, 0.0))
            used = processor_time(process.pid)
            load = asyncio.run(play(port, env, episodes, rate)).load
            used = processor_time(process.pid) - used
    p50, p99 = np.percentile(load.timings["act"], (50, 99))
    return Row(load.requests / load.seconds, p50, p99, used / load.requests, sum(load.errors.values()))


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("peers", nargs="?", help="the Python that has the other frameworks")
    parser.add_argument("--episodes", type=int, default=5_000)
    given = parser.parse_args()
    requests = 5 * given.episodes
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    empty = measure_empty(sys.executable, "starlette", requests)
    print(f"{'empty route, starlette + uvicorn':<36}{empty}")
    whole = measure_service("synthetic", given.episodes)
    print(f"{'whole episodes':<36}{whole}")
    again = measure_empty(sys.executable, "starlette", requests)
    print(f"{'empty route once more':<36}{again}")
    share = 2 * whole.rate / (empty.rate + again.rate)
    processor = (empty.processor + again.processor) / 2 / whole.processor
    print(
        f"{'':<36}{whole.rate / 5:>8,.0f} episodes/s, {share:.2f} of the empty route; by processor {processor:.2f}"
    )
    disk = [1e3 * seconds for seconds in measure_disk()]
    print(f"{'one write to this disk':<36}p50 {disk[0]:6.2f} ms   p99 {disk[1]:6.2f} ms")
    for env in ("synthetic", "vectors"):
        print(f"{f'{ASKED:.0f} episodes/s, {env}':<36}{measure_service(env, given.episodes, ASKED)}")
    talking = measure_service("synthetic", given.episodes, ASKED, beside="booking")
    print(f"{f'{ASKED:.0f} episodes/s, a text fit beside':<36}{talking}")
    for name in PEERS if given.peers else ():
        print(f"{'empty route, ' + name:<36}{measure_empty(given.peers, name, requests)}")


if __name__ == "__main__":
    main()
