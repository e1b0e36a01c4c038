"""The storage of this package, examined by the storage conformance component; and the examination
itself, by faults that are planted in the storage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from examination import COMPONENT, Examination
from headsup.component import effects
from headsup.contract import ClaimRequest, LogPage
from headsup.storage import Store, append, lifecycle, reads, sql
from headsup.storage.store import READS, WRITES

pytestmark = pytest.mark.skipif(
    not COMPONENT.is_file(), reason="the storage conformance component is not built"
)


def test_everything_that_a_core_is_given_is_right(tmp_path: Path) -> None:
    examination = Examination(tmp_path)
    assert len(examination.rules) > 20
    findings = list(examination.findings())
    assert [finding for finding in findings if finding.is_broken] == []
    assert findings == [], "nothing was left unexamined"


Plant = Callable[[pytest.MonkeyPatch], None]
PLANTS: dict[str, tuple[str, Plant]] = {}


def plant(subject: str) -> Callable[[Plant], Plant]:
    """A fault, and the subject in which it has to be found."""

    def planted(fault: Plant) -> Plant:
        PLANTS[fault.__name__] = subject, fault
        return fault

    return planted


@plant("dedupe")
def duplicates_are_not_seen(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(append, "_duplicate_of", lambda connection, entry: None)


@plant("sequences")
def a_sequence_is_used_again_after_a_delete(patch: pytest.MonkeyPatch) -> None:
    right = lifecycle.delete

    def wrong(connection: apsw.Connection, *values: Any) -> Any:
        removal = right(connection, *values)
        connection.execute(
            "UPDATE sqlite_sequence SET seq = "
            "(SELECT coalesce(max(sequence), 0) FROM session_state_events) "
            "WHERE name = 'session_state_events'"
        )
        return removal

    patch.setitem(WRITES, "delete", wrong)


@plant("atomicity")
def what_a_refused_call_wrote_is_kept(patch: pytest.MonkeyPatch) -> None:
    right = Store.rollback

    def wrong(self: Store) -> None:
        if self._transaction == "write" and self._connection.in_transaction:
            self._connection.execute("COMMIT")
        right(self)

    patch.setattr(Store, "rollback", wrong)


@plant("snapshots")
def a_call_that_reads_has_no_snapshot(patch: pytest.MonkeyPatch) -> None:
    def wrong(self: Store) -> None:
        self._transaction = "read"

    def read(self: Store, verb: Any, *values: Any) -> Any:
        return verb(self._connection, *values)

    patch.setattr(Store, "begin_read", wrong)
    patch.setattr(Store, "read", read)


@plant("queue")
def what_a_refused_call_enqueued_is_delivered(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(effects.Effects, "roll_back", lambda self: None)


@plant("history")
def a_page_begins_one_row_late(patch: pytest.MonkeyPatch) -> None:
    right = reads.history

    def wrong(connection: apsw.Connection, session: Any, after: int, limit: int) -> LogPage:
        return right(connection, session, after + 1, limit)

    patch.setitem(READS, "history", wrong)


@plant("text")
def keys_are_compared_without_case(patch: pytest.MonkeyPatch) -> None:
    right = sql.statement

    def wrong(name: str) -> str:
        found = right(name)
        return found.replace(":session_key", "lower(:session_key)") if name == "heads" else found

    patch.setattr(reads, "statement", wrong)


@plant("cost")
def settled_cursors_are_looked_for_among_all(patch: pytest.MonkeyPatch) -> None:
    right = sql.statement

    def wrong(name: str) -> str:
        by_target = "INDEXED BY session_watch_cursors_by_target"
        return right(name).replace("INDEXED BY session_watch_cursors_settled", by_target)

    patch.setattr(append, "statement", wrong)


@plant("claims")
def two_processes_may_claim_the_same_link(patch: pytest.MonkeyPatch) -> None:
    right: Any = WRITES["claim"]

    def wrong(connection: apsw.Connection, request: ClaimRequest) -> Any:
        return right(connection, request._replace(claimed_too=True))

    patch.setitem(WRITES, "claim", wrong)


@pytest.mark.parametrize("fault", list(PLANTS))
def test_a_planted_fault_is_found(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examination = Examination(tmp_path)
    subject, plant_it = PLANTS[fault]
    plant_it(monkeypatch)
    broken = (finding for finding in examination.findings({subject}) if finding.is_broken)
    assert next(broken, None) is not None


def test_what_a_step_found_counts_also_where_a_verb_failed_under_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(connection: apsw.Connection, *rest: Any) -> Any:
        raise apsw.FullError("it is full")

    monkeypatch.setitem(WRITES, "claim", fails)
    examination = Examination(tmp_path)
    words = [finding.words for finding in examination.findings({"claims"}) if finding.is_broken]
    assert any("`claim`: must be succeed" in each for each in words), words
