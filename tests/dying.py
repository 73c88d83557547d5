"""A task that is killed some times before it ends: other processes must be able to import it."""

import os
import signal


def die(path, times):
    """End by a kill so many times, counted in a file, then return how often that was."""
    with open(path, "a+") as file:
        file.write("x")
        file.seek(0)
        tried = len(file.read())
    if tried <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return tried
