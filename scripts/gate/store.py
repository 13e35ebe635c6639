"""Store: which test programs have passed, by their keys. One SQLite file in the user's cache folder, never in the tree.

A key is what keys.py makes of all that a test program can depend on, so that a pass under the same key need not be
repeated. A key that has both passed and failed belongs to a flaky test: it is named, and its pass does not count.
"""
import os
import pathlib
import sqlite3
import sys
import time
from typing import NamedTuple

MAX_KEYS = 20_000  # the oldest go
_TABLES = """
create table if not exists keys (
  key text primary key, name text not null, tests integer not null, passed real, failed real, used real not null);
create table if not exists stages (name text primary key, content text not null, passed real not null);
"""


def default_path():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "trainwarden" / "passed.sqlite"


def _opened(path):
    database = sqlite3.connect(path, timeout=60)
    with database:
        database.executescript(_TABLES)
    return database


class StagePass(NamedTuple):
    """Of one of the stages that do not run each time (outside.py)."""

    content: str  # digest of what it tries
    passed: float


class Store:
    """Times are seconds since 1970. Several processes may use it at once."""

    def __init__(self, path=None, clock=time.time):
        path = pathlib.Path(path or os.environ.get("TRAINWARDEN_PASSED") or default_path())
        self._clock = clock
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = _opened(path)
        except (OSError, sqlite3.Error) as error:
            print(f"{path}: expected a store of passed tests that can be written: {error}. Nothing counts as passed before; "
                  "remove the file, or name another one with TRAINWARDEN_PASSED", file=sys.stderr)
            self._database = _opened(":memory:")

    def tests_passed(self, key):
        """How many tests have passed under this key; None when it has not passed, or has failed as well."""
        row = self._database.execute(
            "select tests from keys where key = ? and passed is not null and failed is null", (key,)).fetchone()
        if row is None:
            return None
        with self._database:
            self._database.execute("update keys set used = ? where key = ?", (self._clock(), key))
        return row[0]

    def add(self, key, name, tests, has_passed):
        """The outcome of a run under this key: of `tests` tests that have passed, or of a failure."""
        now = self._clock()
        column = "passed" if has_passed else "failed"
        with self._database:
            self._database.execute(
                f"insert into keys (key, name, tests, {column}, used) values (?, ?, ?, ?, ?) "
                f"on conflict (key) do update set {column} = excluded.{column}, used = excluded.used, "
                "tests = max(tests, excluded.tests)", (key, name, tests if has_passed else 0, now, now))
            self._database.execute(
                "delete from keys where key in (select key from keys order by used desc limit -1 offset ?)", (MAX_KEYS,))

    def flaky(self, since=0):
        """[(name, key)] of keys that have passed and failed, the later of both at `since` or after it."""
        return self._database.execute(
            "select name, key from keys where passed is not null and failed is not null and max(passed, failed) >= ? "
            "order by name", (since,)).fetchall()

    def passed_at(self, key):
        """When it has passed last; 0 when never."""
        row = self._database.execute("select passed from keys where key = ?", (key,)).fetchone()
        return row[0] if row and row[0] is not None else 0.0

    def stage(self, name):
        """The last pass of a whole stage; None when it never has passed."""
        row = self._database.execute("select content, passed from stages where name = ?", (name,)).fetchone()
        return StagePass(*row) if row else None

    def add_stage(self, name, content):
        with self._database:
            self._database.execute("insert or replace into stages values (?, ?, ?)", (name, content, self._clock()))
