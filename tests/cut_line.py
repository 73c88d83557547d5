"""A line to PostgreSQL that is cut at a commit, before or after the server has got it: its answer never comes."""

import contextlib
import socket
import tempfile
import threading
from pathlib import Path

SOCKET = ".s.PGSQL.5432"


class CutLine:
    """Stands between a client and the socket in `server`; the client connects to the socket in `folder`.

    The next COMMIT cuts its connection: `cut` is "before" or "after" the server has got it, None for never. With
    `shut` no connection is taken from then on.
    """

    def __init__(self, server):
        self._server = str(Path(server) / SOCKET)
        self._folder = tempfile.TemporaryDirectory(prefix="cut")
        self.folder = self._folder.name
        self.cut, self.shut, self.cuts = None, False, 0
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(Path(self.folder) / SOCKET))
        self._listener.listen()
        threading.Thread(target=self._take, daemon=True).start()

    def close(self):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._folder.cleanup()

    def _take(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.shut:
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                muted, lost = threading.Event(), threading.Event()
                threading.Thread(target=self._ask, args=[client, server, muted, lost], daemon=True).start()
                threading.Thread(target=self._answer, args=[server, client, muted, lost], daemon=True).start()

    def _ask(self, client, server, muted, lost):
        with contextlib.suppress(OSError), client, server:
            while data := client.recv(65536):
                if self.cut and b"COMMIT" in data:
                    muted.set()
                    if self.cut == "after":
                        server.sendall(data)
                        lost.wait(5)  # carried out, and its answer is lost
                    self.cut, self.cuts = None, self.cuts + 1
                    return
                server.sendall(data)

    def _answer(self, server, client, muted, lost):
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                if muted.is_set():
                    lost.set()
                    return
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)
