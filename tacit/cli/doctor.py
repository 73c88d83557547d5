"""`tacit doctor`: does everything that Tacit stands on work here? Each check says what it found."""

from __future__ import annotations

import platform
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tacit.cli.terminal import fail, say

if TYPE_CHECKING:
    from tacit.agent import Agent
    from tacit.learning.settings import Settings

OLDEST_PYTHON = (3, 11)
SMOKE_EPISODES = 1000
FLOW_TOLERANCE = 1e-9
"""How far the solved occupancy may miss a flow constraint: rounding."""
NEURAL = "the neural posterior, which the paper's figures use"
LOSES = {"neural": NEURAL, "digits": "the figure digits"}
"""What an installation without an extra goes without."""


@dataclass(frozen=True)
class Checked:
    """What one check found: `required` ones must be ok, others may be missing."""

    name: str
    status: Literal["ok", "missing", "failed"]
    detail: str
    required: bool = True

    @property
    def broken(self) -> bool:
        """Return whether Tacit cannot work like this."""
        return self.status == "failed" or (self.status == "missing" and self.required)

    @property
    def colour(self) -> str:
        """Return the colour of its status."""
        return "green" if self.status == "ok" else "red" if self.broken else "yellow"


class Requirement(NamedTuple):
    """A package that Tacit declares: its least version, and the extra that it belongs to."""

    package: str
    least: str
    extra: str | None


def doctor() -> None:
    """Check the installation: packages, compiler, solver, a short run, a checkpoint."""
    console = Console()
    table = Table(title="Tacit's installation")
    for heading in ("", "check", "what was found"):
        table.add_column(heading, overflow="fold")
    checked = []
    with console.status("checking ..."):
        for each in examine():
            checked.append(each)
            table.add_row(Text(each.status, style=each.colour), Text(each.name), Text(each.detail))
    console.print(table)
    broken = [each.name for each in checked if each.broken]
    if broken:
        fail(console, f"these need attention: {', '.join(broken)}")
    say(console, "All is well.")


def examine() -> Iterator[Checked]:
    """Yield a finding for each check, in the order in which a problem should be solved."""
    yield check_python()
    for requirement in list_requirements(requires("tacit") or []):
        yield check_package(requirement)
    for name, check in (
        ("compiler", check_compiler),
        ("occupancy solver", check_solver),
        ("agent and checkpoint", check_agent),
    ):
        yield guarded(name, check)
    yield check_kept_kernels()
    yield check_kept_encodings()


def guarded(name: str, check: Callable[[], str]) -> Checked:
    """Return what a check says, or that it failed and how."""
    try:
        return Checked(name, "ok", check())
    except Exception as error:
        return Checked(name, "failed", f"{type(error).__name__}: {error}")


def check_python() -> Checked:
    """Return whether this Python is new enough."""
    found, least = platform.python_version(), ".".join(map(str, OLDEST_PYTHON))
    if sys.version_info < OLDEST_PYTHON:
        return Checked("python", "failed", f"{found}; Tacit needs {least} or later")
    return Checked("python", "ok", found)


def list_requirements(lines: list[str]) -> list[Requirement]:
    """Return the declared packages that a user may want; development tools are left out.

    >>> list_requirements(["torch>=2.2; extra == 'neural'", "ruff>=1; extra == 'dev'"])
    [Requirement(package='torch', least='2.2', extra='neural')]
    """
    found = []
    for line in lines:
        package = re.match(r"[\w.-]+", line)
        least = re.search(r">=\s*([\w.]+)", line)
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)", line)
        if package and not (extra and extra[1] == "dev"):
            found.append(Requirement(package[0], least[1] if least else "0", extra[1] if extra else None))
    return found


def check_package(requirement: Requirement) -> Checked:
    """Return whether a package is there and new enough, and how to get it."""
    package, least, extra = requirement
    remedy = f"pip install 'tacit[{extra}]'" if extra else f"pip install '{package}>={least}'"
    loss = f"; without it: no {LOSES.get(extra, extra)}" if extra else ""
    try:
        found = version(package)
    except PackageNotFoundError:
        return Checked(package, "missing", f"{remedy}{loss}", required=extra is None)
    if _numbers(found) < _numbers(least):
        return Checked(package, "failed", f"{found} is older than {least}; {remedy}")
    return Checked(package, "ok", found + (f" ({extra})" if extra else ""))


def check_compiler() -> str:
    """Return how Numba fares."""
    import numpy as np

    from tacit.base.randomness import draw_index

    if draw_index(np.array([0.25, 0.75]), 0.5) != 1:
        raise RuntimeError("a compiled kernel gave a wrong answer; reinstall numba and llvmlite")
    if not hasattr(draw_index, "stats"):
        return "switched off by NUMBA_DISABLE_JIT: results are right, and slow"
    return "a compiled kernel gives the right answer"


def check_kept_kernels() -> Checked:
    """Return where compiled kernels are kept for the next process, or how to keep them."""
    from tacit.base.jit import kernel_folder
    from tacit.base.randomness import draw_index

    if not hasattr(draw_index, "stats"):
        return Checked("kept kernels", "ok", "none: nothing is compiled")
    folder = kernel_folder(draw_index)
    if folder is not None and any(Path(folder).glob("*.draw_index-*.nbi")):
        return Checked("kept kernels", "ok", folder)
    where = "no folder can be written" if folder is None else f"nothing can be written to {folder}"
    remedy = "set NUMBA_CACHE_DIR to a folder that can be"
    detail = f"{where}, so every process compiles anew and starts seconds later; {remedy}"
    return Checked("kept kernels", "missing", detail, required=False)


def check_kept_encodings() -> Checked:
    """Return where encodings of text are kept for the next process, or how to keep them."""
    from tacit.text.small.cache import default_path, is_writable

    path = default_path()
    if is_writable(path):
        return Checked("kept encodings", "ok", str(path))
    remedy = "set TACIT_CACHE to a folder that can be"
    detail = f"{path} cannot be written, so every process encodes texts anew; {remedy}"
    return Checked("kept encodings", "missing", detail, required=False)


def check_solver() -> str:
    """Return the certificate of one occupancy problem, of the size of the paper's."""
    import numpy as np

    from tacit.planning.occupancy import solve_occupancy

    generator = np.random.default_rng(0)
    sizes, K = (1, 2, 2), 5
    transitions = [generator.dirichlet(np.ones(n), (m, K)) for m, n in pairwise(sizes)]
    rewards = [np.zeros((n, K)) for n in sizes[:-1]] + [generator.random((sizes[-1], K))]
    solution = solve_occupancy(transitions, rewards, gamma=100.0)
    if not solution.converged or solution.flow_residual > FLOW_TOLERANCE:
        raise RuntimeError(f"no solution: gap {solution.gap:.1e}, flow residual {solution.flow_residual:.1e}")
    certificate = f"gap {solution.gap:.0e}, flow residual {solution.flow_residual:.0e}"
    return f"{certificate} after {solution.iterations} steps"


def check_agent() -> str:
    """Return how a short run went through every stage, saved and loaded at its end."""
    from tacit.agent import Agent
    from tacit.envs.gym_adapter import GymSource
    from tacit.envs.synthetic import synthetic
    from tacit.simulate import Simulation

    env = synthetic()
    agent = Agent(env.layout, smoke_settings(), seed=0)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so short a run may well be told that it is short
        Simulation(agent, GymSource(env), seed=0).run(SMOKE_EPISODES)
    seconds = time.perf_counter() - start
    if agent.stage.explores:
        raise RuntimeError(
            f"{SMOKE_EPISODES} episodes ended in stage {agent.stage.name!r}, not in policy learning"
        )
    size = check_round_trip(agent)
    run = (
        f"{SMOKE_EPISODES:,} episodes with the {agent.settings.posterior.method} posterior in {seconds:.1f} s"
    )
    return f"{run}; a checkpoint of {size:,} bytes reads back"


def check_round_trip(agent: Agent) -> int:
    """Return the size of the agent's checkpoint; raise unless what is read back saves to the same bytes."""
    with tempfile.TemporaryDirectory() as directory:
        first, second = Path(directory, "first.tacit"), Path(directory, "second.tacit")
        agent.save(first)
        type(agent).load(first).save(second)
        if first.read_bytes() != second.read_bytes():
            raise RuntimeError("a checkpoint that was read back and saved again differs from the first")
        return first.stat().st_size


def smoke_settings() -> Settings:
    """Return settings with which every stage fits into the smoke run."""
    from tacit.decoding.decoder import DecoderSettings
    from tacit.decoding.posterior import PosteriorSettings
    from tacit.learning.settings import CollectionSettings, HomingSettings, Settings

    return Settings(
        DecoderSettings(theta=0.9, M=1.3),
        homing=HomingSettings(episodes=100),
        collection=CollectionSettings(tuples=100),
        posterior=PosteriorSettings(method="neural" if find_spec("torch") else "frequency"),
        recipe="paper",
    )


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text.split("+")[0])][:3]
