"""`python -m headsup.record_cost`: what a record costs through this package.

Opens a store, makes one watch that is pending on a session, then records so many human messages there
by JSON, one after the other. Prints one line of JSON; the parts are in ns, too, and those that are
measured in a second, shorter run are scaled to all records.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from .api import Headsup
from .errors import OpenError
from .opening import open
from .results import Actor

WATCHER, TARGET = "agent:main:main", "agent:main:worker"


def request(number: int) -> bytes:
    """One record of a message."""
    params = {"session": TARGET, "kind": "human_direct_message", "actor": {"type": "human"}}
    call = {"jsonrpc": "2.0", "id": number, "method": "record", "params": params}
    return json.dumps(call).encode()


def run(store: Headsup, records: int) -> int:
    """Records so many. Returns how long it took, in ns."""
    requests = [request(number) for number in range(records)]
    start = time.perf_counter_ns()
    for one in requests:
        answer = store.call(one)
    end = time.perf_counter_ns()
    assert answer is not None and '"outcome":"recorded"' in answer, answer
    return end - start


def main() -> int:
    """Measures once."""
    parser = argparse.ArgumentParser(prog="python -m headsup.record_cost", description=__doc__)
    parser.add_argument("--db", required=True, help="a store, which is made if it is not there")
    parser.add_argument("--records", type=int, required=True)
    parser.add_argument("--durability", choices=("full", "normal"), default="full")
    parser.add_argument("--engine", choices=("component", "native"), help="what runs the core")
    chosen = parser.parse_args()
    try:
        store = open(chosen.db, engine=chosen.engine, durability=chosen.durability)
    except OpenError as error:
        print(f"headsup: {error.message} ({error.reason})", file=sys.stderr)
        return 1
    with store:
        store.watch(WATCHER, TARGET)
        store.record(TARGET, "goal_changed", Actor("human"), change="updated")
        total = run(store, chosen.records)
        if store.engine == "component":
            from .component.profile import parts

            found = parts(store, run, chosen.records)
        else:
            found = {"library": total}
    line = {"records": chosen.records, "nanoseconds": total, "parts": found}
    print(json.dumps({**line, "engine": store.engine, "durability": chosen.durability}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
