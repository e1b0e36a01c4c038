"""A gateway in one file: an HTTP server with two sessions, a manager and the worker it spawned.

    python examples/gateway.py [--port 8080] [--db gateway.db] [--engine component|native]

- `POST /messages` with a text: a person writes into the worker, behind the manager's back.
- `POST /turns`: the manager's next turn. It shows the notice, catches up, and acknowledges.
- `GET /worker`: the state version of the worker and whether the manager is to be told.

The sessions are made up; a real gateway would start a model where this one prints.
"""

from __future__ import annotations

import argparse
import json
import signal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import headsup
from headsup import Actor, Headsup

MANAGER = "agent:main:main"
WORKER = "agent:main:subagent:worker"

MOST_BYTES = 64 << 10


class Gateway(ThreadingHTTPServer):
    """The server, over one store."""

    def __init__(self, port: int, store: Headsup) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.store = store


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Gateway

    def do_GET(self) -> None:
        if self.path != "/worker":
            return self._answer(404, {"error": "there is only /worker to get"})
        version = self.server.store.status(WORKER).state_version
        pending = bool(self.server.store.take(MANAGER))
        self._answer(200, {"stateVersion": version, "pending": pending})

    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), MOST_BYTES))
        if self.path == "/messages":
            self._answer(200, message(self.server.store, body.decode(errors="replace")))
        elif self.path == "/turns":
            self._answer(200, turn(self.server.store))
        else:
            self._answer(404, {"error": "post to /messages or /turns"})

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: the sessions speak for themselves."""

    def _answer(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def message(store: Headsup, text: str) -> dict[str, Any]:
    """A person sends a turn to the worker. Its text goes to the worker's model, and nowhere else."""
    print(f"a person to the worker: {text}", flush=True)
    recording = store.record(
        WORKER, "human_direct_message", Actor("human"), channel="http", watchers=[MANAGER]
    )
    return {"outcome": recording.outcome, "stateVersion": recording.state_version}


def turn(store: Headsup) -> dict[str, Any]:
    """A turn of the manager: what it is told, what it reads then, and that it took it in."""
    notices = store.take(MANAGER)
    delta = []
    for notice in notices:
        print(f"the manager is told: {notice.text}", flush=True)
        # What the agent would do by the tool `session_status`.
        changes = store.status(notice.target, changes_since=notice.since).state_changes
        assert changes is not None
        delta += [event.summary for event in changes.events]
    # Only now that the turn carries them.
    store.acknowledge(MANAGER, notices)
    return {"notices": [notice.text for notice in notices], "delta": delta}


def wake(watcher: str) -> None:
    print(f"{watcher} should run a turn", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8080, help="0 for any that is free")
    parser.add_argument("--db", default=":memory:")
    parser.add_argument("--engine", choices=("component", "native"))
    chosen = parser.parse_args()
    # Whoever supervises it ends it as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with headsup.open(chosen.db, engine=chosen.engine, on_wake=wake) as store:
        store.record(WORKER, "child_spawned", Actor("agent", MANAGER), run_id="run-1")
        with Gateway(chosen.port, store) as server:
            address = f"http://127.0.0.1:{server.server_address[1]}"
            print(f"the gateway listens at {address} over {store.engine}", flush=True)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                print("the gateway ends", flush=True)


if __name__ == "__main__":
    main()
