"""A stop under load: requests under way are answered, nothing that was acknowledged is lost, the exit code is 0."""

import http.client
import signal
import sqlite3
import threading
import time
from contextlib import closing

import pytest
from operating import Running
from serving import SHOP, shop

from tacit.service.serving import JOURNAL


class Visitors(threading.Thread):
    """Asks for actions until the service is gone; keeps what was acknowledged, and what was answered by halves."""

    def __init__(self, running, name):
        super().__init__()
        self.running, self.name, self.acknowledged, self.broken, self.odd = running, name, [], [], []

    def run(self):
        n = 0
        with closing(self.running.connect()) as connection:
            while True:
                name, n = f"{self.name}-{n}", n + 1
                body = {"context": "new", "state": "start", "id": name}
                try:
                    status, told = self.running.ask("POST", "/v1/agents/shop/decide", body, connection)
                except (ConnectionError, http.client.RemoteDisconnected):
                    self.broken.append(name)  # closed between two requests, or never taken
                    return
                except http.client.HTTPException as error:
                    self.odd.append(error)  # an answer that broke off
                    return
                if status == 201:
                    self.acknowledged.append((name, told["action"]))
                elif status == 503:
                    return
                else:
                    self.odd.append(status)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_under_load(tmp_path, number):
    running = Running(tmp_path)
    try:
        assert running.ask("PUT", "/v1/agents/shop", SHOP)[0] == 201
        visitors = [Visitors(running, f"v{n}") for n in range(6)]
        for each in visitors:
            each.start()
        while sum(len(each.acknowledged) for each in visitors) < 100:
            assert running.process.poll() is None
            time.sleep(0.01)
    finally:
        began = time.monotonic()
        code = running.stop(number)
    assert code == (0 if number == signal.SIGTERM else 130)
    assert time.monotonic() - began < 30
    for each in visitors:
        each.join(30)
        assert not each.is_alive()
        assert each.odd == []
    acknowledged = dict(pair for each in visitors for pair in each.acknowledged)
    with closing(sqlite3.connect(tmp_path / JOURNAL)) as journal:
        kept = {name for (name,) in journal.execute("SELECT episode FROM events WHERE kind = 'act'")}
        (snapshots,) = journal.execute("SELECT count(*) FROM snapshots").fetchone()
    assert set(acknowledged) <= kept
    assert len(kept) - len(acknowledged) <= len(visitors)  # at most one each whose answer did not arrive
    assert snapshots >= 1
    with shop(tmp_path) as caller:
        for name, action in list(acknowledged.items())[-20:]:
            assert caller.act(name, 1, "start").json()["action"] == action


def test_requests_under_way_are_answered(tmp_path):
    """A body of which a part is still to come when the service is told to stop is waited for."""
    running = Running(tmp_path)
    try:
        assert running.ask("PUT", "/v1/agents/shop", SHOP)[0] == 201
        body = b'{"context": "new", "state": "start", "id": "late"}'
        with closing(running.connect()) as connection:
            connection.putrequest("POST", "/v1/agents/shop/decide")
            connection.putheader("content-length", str(len(body)))
            connection.endheaders()
            connection.send(body[:10])
            time.sleep(0.3)
            running.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            connection.send(body[10:])
            response = connection.getresponse()
            assert response.status == 201
            response.read()
    finally:
        assert running.stop() == 0
    with closing(sqlite3.connect(tmp_path / JOURNAL)) as journal:
        assert journal.execute("SELECT kind FROM events WHERE episode = 'late'").fetchall() == [
            ("begin",),
            ("act",),
        ]
