"""A service as it is run: with options, in this process or in one of its own."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

from serving import SHOP, Caller
from starlette.testclient import TestClient

from tacit.service.options import ServiceOptions
from tacit.service.serving import JOURNAL, make_service
from tacit.service.sqlite import SqliteStore

HERE = ("127.0.0.1", 50_000)


@contextmanager
def operating(folder, clock=None, client=HERE, base="http://127.0.0.1:8040", **options):
    """Give a client of a service with options, that comes from this machine."""
    chosen = ServiceOptions(data=folder, **options)
    more = {} if clock is None else {"clock": clock}
    service = make_service(SqliteStore(folder / JOURNAL), options=chosen, **more)
    with TestClient(service, base_url=base, client=client, raise_server_exceptions=False) as caller:
        yield caller


@contextmanager
def shop_with(folder, **options):
    """Give the caller of an agent in a shop."""
    with operating(folder, **options) as client:
        caller = Caller(client)
        assert caller.put(SHOP).status_code in (200, 201)
        yield caller


def bearer(token):
    return {"authorization": f"Bearer {token}"}


class Running:
    """`tacit serve` in a process of its own; each call is on a connection of its own unless one is given."""

    def __init__(self, folder, *more, env=None):
        command = [
            sys.executable,
            "-m",
            "tacit.cli.start",
            "serve",
            "--port",
            "0",
            "--data",
            str(folder),
            *more,
        ]
        self.errors = open(folder / "stderr.log", "ab")  # noqa: SIM115
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=os.environ | (env or {})
        )
        line = self.process.stdout.readline()
        assert "listens at " in line, (line, (folder / "stderr.log").read_text())
        self.address = line.split("listens at ")[1].split(" ")[0]
        for _ in range(2_000):
            if self.ask("GET", "/readyz")[0] == 200:
                return
            time.sleep(0.05)
        raise AssertionError("it is not ready")

    def connect(self):
        return http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=60)

    def ask(self, method, path, body=None, connection=None, headers=None):
        """Return status and body of an answer."""
        used = connection if connection is not None else self.connect()
        try:
            used.request(method, path, None if body is None else json.dumps(body), headers or {})
            response = used.getresponse()
            told = response.read()
        finally:
            if connection is None:
                used.close()
        return response.status, json.loads(told) if told[:1] in (b"{", b"[") else told

    def stop(self, number=signal.SIGTERM):
        """Return with which code it ends."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(60)
        self.process.stdout.close()
        self.errors.close()
        return code
