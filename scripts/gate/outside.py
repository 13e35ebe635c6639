#!/usr/bin/env python3
"""Stages that wait for clusters, servers, clocks or other people's frameworks (scripts/outside.json).

usage: outside.py changed            those whose paths have changed and the minutes that each takes, the shortest first
       outside.py names              all of them
       outside.py waiting [--since DATE] [--but NAME...]
                                     those that have not passed (since then), and for how long: the longest first
       outside.py longest N [--but NAME...]
                                     the first N of these, and the minutes that each takes
       outside.py passed NAME        the stage has passed

What a stage tries has changed when it is not what it was when the stage passed last; where the store knows no pass, as in
a new checkout, when a commit of the last day before HEAD, or a change that is not committed, is in its paths.
"""
import argparse
import datetime
import hashlib
import json
import subprocess
import sys
import time

from digests import ROOT, of_lines, of_path
from store import Store


def stages():
    return json.loads((ROOT / "scripts" / "outside.json").read_text(encoding="utf-8"))


def content(stage):
    return of_lines(f"{path} {of_path(ROOT / path)}" for path in stage["tries"])


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def changed_lately():
    """Files of the commits of the day that ends with HEAD, and of what is not committed."""
    head = int(git("log", "-1", "--format=%ct") or 0)
    committed = git("log", "--format=", "--name-only", f"--since={head - 86400}")
    return {*committed.split("\n"), *(line[3:] for line in git("status", "--porcelain").split("\n"))} - {""}


def has_changed(name, stage, store, lately):
    known = store.stage(name)
    if known is not None:
        return known.content != content(stage)
    return any(file == path or file.startswith(path + "/") for file in lately for path in stage["tries"])


def show_changed(arguments, store):
    lately = changed_lately()
    for name, stage in sorted(stages().items(), key=lambda each: each[1]["minutes"]):
        if has_changed(name, stage, store, lately):
            print(name, stage["minutes"])


def waiting(store, since):
    """[(name, when it passed or 0)], the longest first; of those that never have, another one with each commit."""
    head = git("rev-parse", "HEAD")
    passed = {name: known.passed if (known := store.stage(name)) else 0.0 for name in stages()}
    order = sorted(passed, key=lambda name: (passed[name], hashlib.sha256((head + name).encode()).hexdigest()))
    return [(name, passed[name]) for name in order if passed[name] < since]


def how_long(passed):
    if passed == 0:
        return "has never passed here"
    days = (time.time() - passed) / 86400
    return f"passed {days:.1f} days ago"


def show_waiting(arguments, store):
    since = arguments.since.timestamp() if arguments.since else float("inf")
    found = [each for each in waiting(store, since) if each[0] not in arguments.but]
    for name, passed in found:
        print(f"{name} ({stages()[name]['says']}): {how_long(passed)}")


def show_longest(arguments, store):
    """Names and minutes, for a shell."""
    for name, _ in [each for each in waiting(store, float("inf")) if each[0] not in arguments.but][:arguments.count]:
        print(name, stages()[name]["minutes"])


def show_names(arguments, store):
    print("\n".join(stages()))


def note_passed(arguments, store):
    store.add_stage(arguments.name, content(stages()[arguments.name]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    changed = commands.add_parser("changed")
    changed.set_defaults(function=show_changed)
    listed = commands.add_parser("waiting")
    listed.set_defaults(function=show_waiting)
    listed.add_argument("--since", type=datetime.datetime.fromisoformat)
    listed.add_argument("--but", nargs="*", default=[])
    longest = commands.add_parser("longest")
    longest.set_defaults(function=show_longest)
    longest.add_argument("count", type=int)
    longest.add_argument("--but", nargs="*", default=[])
    commands.add_parser("names").set_defaults(function=show_names)
    passed = commands.add_parser("passed")
    passed.set_defaults(function=note_passed)
    passed.add_argument("name", choices=stages())
    arguments = parser.parse_args()
    arguments.function(arguments, Store())
    return 0


if __name__ == "__main__":
    sys.exit(main())
