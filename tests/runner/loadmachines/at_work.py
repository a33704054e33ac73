"""What a test of several machines does in the middle of its network; what it sees is written as lines of JSON.

    python -m tests.runner.loadmachines.at_work tls://SCHEDULER:PORT 1,2,4 LINK

It loads a server by so many machines each, with batches, and then by all of them while it cuts a link.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from dataclasses import replace

from benchmarks.pretending import pretending
from mongo_tables.runner.errors import WorkFailed
from mongo_tables.runner.loadmachines.address import parse_load_machines
from mongo_tables.runner.loadmachines.cluster import open_cluster
from mongo_tables.runner.loadmachines.pool import MachinePool
from mongo_tables.runner.worker import Load
from tests.runner.loadmachines.namespaces import MIDDLE_ADDRESS

BATCHES = {"collection": "things", "docSizeKB": 8, "writeBatchSize": 4, "totalDocsToInsert": 20_000}


def main() -> None:
    scheduler, counts, link = sys.argv[1:]
    with (
        pretending(host=MIDDLE_ADDRESS) as uri,
        open_cluster(parse_load_machines(scheduler)) as cluster,
        MachinePool(cluster, 1) as pool,
    ):
        # As many machines have work as there are connections.
        load = Load(uri, "load_test", "insert", BATCHES, "s", 1, seconds=3.0)
        for count in map(int, counts.split(",")):
            _say(pool.perform(replace(load, connections=count)), count)
        _cut_off(pool, replace(load, connections=count, seconds=30.0), link)


def _say(outcome, count):
    speed = outcome.inside.documents / outcome.seconds
    print(json.dumps({"count": count, "speed": speed, "machines": outcome.machines}), flush=True)


def _cut_off(pool, load, link):
    cut = []

    def cutting():
        subprocess.run(["ip", "link", "set", link, "down"], check=True)
        cut.append(time.monotonic())

    try:
        pool.perform(load, opened=lambda: threading.Timer(1.0, cutting).start())
    except WorkFailed as error:
        print(json.dumps({"said": error.message, "after": time.monotonic() - cut[0]}), flush=True)


if __name__ == "__main__":
    main()
