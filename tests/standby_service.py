"""A service that has imported everything and warmed its kernels, and opens its journal when told to by a line on stdin.

Tests that kill services by the hundred start the next one while the last is still up. It snapshots often, so that
restarts come upon snapshots. Run: python standby_service.py PORT DATA [DATABASE].
"""

import sys
from pathlib import Path

from tacit.service import house, serving
from tacit.service.warming import warm_kernels


def main(port, data, database=None):
    house.SNAPSHOT_EVENTS, house.TEND_EVERY = 300, 0.1
    warm_kernels()
    if not sys.stdin.readline():
        return
    with serving.listen("127.0.0.1", int(port)) as (listener, _):
        serving.serve(serving.open_store(Path(data), database), listener)


if __name__ == "__main__":
    main(*sys.argv[1:])
