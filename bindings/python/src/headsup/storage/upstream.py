"""The verbs for sources of adopted sessions: `upstream-of`, `save-upstream` and `claim`."""

from __future__ import annotations

import json

import apsw

from ..contract import ClaimRequest, Link, Session, Source, Upstream
from .rows import SqlRow, number, stored
from .sql import statement

LINKS = "session_upstream_links"
TURNS = "headsup_own_turns"


def upstream_of(connection: apsw.Connection, session: Session) -> Upstream:
    """`storage.upstream-of`."""
    return _upstream(connection.execute(statement("upstream_of"), _named(session)).get)


def save_upstream(connection: apsw.Connection, upstream: Upstream, now: int) -> None:
    """`storage.save-upstream`."""
    of_session = _named(upstream.session)
    if upstream.link is None:
        connection.execute(statement("delete/link"), of_session)
    else:
        _save_link(connection, upstream.session, upstream.link)
    if not upstream.sent and upstream.running_until <= now:
        connection.execute(statement("delete/turns"), of_session)
        return
    said = {
        "sent": upstream.sent,
        "running_until": stored(upstream.running_until),
        "now": stored(now),
    }
    connection.execute(statement("save_upstream/turns"), {**of_session, **said})


def claim(connection: apsw.Connection, request: ClaimRequest) -> list[Upstream]:
    """`storage.claim`."""
    times = {"now": stored(request.now), "until": stored(request.until)}
    asked = {
        **times,
        "kinds": json.dumps(request.kinds),
        "running_at_most": stored(request.running_at_most),
        "claimed_too": request.claimed_too,
    }
    due = [_upstream(row) for row in connection.execute(statement("claim/due"), asked)]
    for upstream in due:
        connection.execute(statement("claim/take"), {**_named(upstream.session), **times})
    return due


def has_links(connection: apsw.Connection) -> bool:
    """Whether any session is adopted; no verb of the contract."""
    return bool(connection.execute(statement("links/any")).get)


def _save_link(connection: apsw.Connection, session: Session, link: Link) -> None:
    values = {
        "source_kind": link.source.kind,
        "source_place": link.source.place,
        "source_thread": link.source.thread,
        "catalog": link.catalog,
        "generation": stored(link.generation),
        "revision": stored(link.revision),
        "misses": link.misses,
        "claimed": link.claimed,
        "state_json": link.state,
    }
    connection.execute(statement("save_upstream/link"), {**_named(session), **values})


def _named(session: Session) -> dict[str, str]:
    return {"session_key": session.key, "agent_id": session.agent}


def _upstream(row: SqlRow) -> Upstream:
    sent, running_until = row[11] or "", 0 if row[12] is None else number(row[12], TURNS)
    return Upstream(Session(row[0], row[1]), _link(row), sent, running_until, bool(row[2]))


def _link(row: SqlRow) -> Link | None:
    if row[3] is None:
        return None
    generation, revision = number(row[7], LINKS), number(row[8], LINKS)
    source = Source(row[3], row[4], row[5])
    return Link(source, row[6], generation, revision, row[9], True, row[10])
