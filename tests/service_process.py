"""A service in a process of its own, for tests: started as a user would start it, killed as a machine would."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
SLOWEST = 240.0
"""Seconds until it is ready: in a fresh checkout kernels are compiled first."""


class ServiceProcess:
    """`tacit serve` on a folder, or on a database; it can be killed and started again at the same address."""

    def __init__(self, folder, database=None):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        command = [
            sys.executable,
            "-m",
            "tacit.cli.start",
            "serve",
            "--port",
            str(self.port),
            "--data",
            str(folder),
        ]
        self._command = command + (["--database", database] if database else [])
        self._environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        self._process = None

    def start(self, wait=True):
        self._process = subprocess.Popen(
            self._command,
            stdout=subprocess.DEVNULL,
            env=self._environment,
        )
        if wait:
            self.wait()

    def wait(self):
        """Wait until it is ready."""
        until = time.monotonic() + SLOWEST
        while self.status("/readyz") != 200:
            assert self._process.poll() is None, f"the service ended with {self._process.returncode}"
            assert time.monotonic() < until, "the service does not become ready"
            time.sleep(0.02)

    def status(self, path):
        """Return the status of an answer, None if there is none."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as response:
                return response.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return None

    def kill(self):
        """End it as a power cut does: nothing is finished, nothing is said."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self):
        """Ask it to stop, and wait until it has."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()


class StandbyService(ServiceProcess):
    """The same for tests that kill it again and again: the next process waits while the last one is still up."""

    def __init__(self, folder, database=None):
        super().__init__(folder, database)
        script = str(ROOT / "tests" / "standby_service.py")
        self._command = [
            sys.executable,
            script,
            str(self.port),
            str(folder),
            *([database] if database else []),
        ]
        self._next = self._make()

    def start(self, wait=True):
        self._process, self._next = self._next, None
        self._process.stdin.write(b"open\n")
        self._process.stdin.close()
        if wait:
            self.wait()
        self._next = self._make()

    def stop(self):
        if self._next is not None:
            self._next.stdin.close()
            self._next.wait()
        super().stop()

    def _make(self):
        return subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=self._environment
        )


@contextmanager
def service_process(folder, database=None):
    """Give a service that is ready."""
    service = ServiceProcess(folder, database)
    service.start()
    try:
        yield service
    finally:
        service.stop()
