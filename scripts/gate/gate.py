#!/usr/bin/env python3
"""What of the tests has to run, because something that it can read has changed since it passed.

usage: gate.py ctest PLAN BUILD [--label LABEL] [--without LABEL]...   the tests of CTest in a build folder
       gate.py python PLAN PYTHON WORDS [FOLDER...] [--ignore PATH]... the test files of pytest; WORDS go into the keys
       gate.py files PLAN NAME=PATH[,PATH...]...                       others, by the paths that each can read
       gate.py note PLAN REPORT [--status STATUS]                      takes in what a JUnit report says of a plan
       gate.py note-passed PLAN NAME...                                takes in which units of a plan have passed
       gate.py flaky --since SECONDS                                   names the keys that have passed and failed

The first three write PLAN and print how many tests and programs have passed before under the same keys, then what
selects the others, a line each: arguments of CTest's -I, arguments of pytest, or names. With TRAINWARDEN_FRESH=1 nothing counts as
passed before. The store is passed.sqlite in the user's cache folder (store.py).
"""
import argparse
import json
import os
import pathlib
import sys
import time

import ctest_programs
import python_files
from digests import ROOT, key_of
from store import Store

sys.path.insert(0, str(ROOT / "scripts"))
import test_report  # noqa: E402


def write_plan(path, units, store):
    """Prints what has passed before, and gives the units that are to run."""
    is_fresh = os.environ.get("TRAINWARDEN_FRESH") == "1"
    before = {unit["name"]: None if is_fresh else store.tests_passed(unit["key"]) for unit in units}
    chosen = [unit for unit in units if before[unit["name"]] is None]
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(path).write_text(json.dumps({"units": chosen}), encoding="utf-8")
    print(sum(count or 0 for count in before.values()), len(units) - len(chosen), len(chosen))
    return chosen


def plan_ctest(arguments, store):
    units = ctest_programs.units_of(arguments.build)
    if arguments.label:
        units = [unit for unit in units if arguments.label in unit.labels]
    units = [unit for unit in units if not unit.labels & set(arguments.without)]
    plain = [{"name": unit.name, "key": unit.key, "tests": unit.tests, "numbers": unit.numbers} for unit in units]
    for unit in write_plan(arguments.plan, plain, store):
        print("\n".join(map(str, unit["numbers"])))


def plan_python(arguments, store):
    """Folders with what is left out of them: pytest loads the conftest.py of a file that it is given at once, and cannot
    leave out a folder whose framework is not there."""
    files = python_files.test_files(arguments.folders, arguments.ignore)
    units = [vars(unit) for unit in python_files.units_of(files, arguments.python, arguments.words)]
    chosen = {unit["name"] for unit in write_plan(arguments.plan, units, store)}
    left_out = [unit["name"] for unit in units if unit["name"] not in chosen]
    if chosen:
        print("\n".join([*arguments.folders, *(f"--ignore={path}" for path in (*arguments.ignore, *left_out))]))


def plan_files(arguments, store):
    named = dict(each.split("=", 1) for each in arguments.units)
    units = [{"name": name, "prefix": name, "key": key_of(f"{arguments.plan} {name}", {ROOT / path for path in paths.split(",")})}
             for name, paths in named.items()]
    for unit in write_plan(arguments.plan, units, store):
        print(unit["name"])


def is_of(unit, case):
    """Does a case of a report belong to this unit?"""
    if "tests" in unit:
        return case.get("name") in unit["tests"]
    place = case.get("classname", "")
    return place == unit["prefix"] or place.startswith(unit["prefix"] + ".")


def note(arguments, store):
    units = json.loads(pathlib.Path(arguments.plan).read_text(encoding="utf-8"))["units"]
    folder = pathlib.Path(arguments.report).parent / "cases"
    cases = test_report.cases_of(arguments.report)
    found = {unit["name"]: [case for case in cases if is_of(unit, case)] for unit in units}
    outcomes = {name: [test_report.outcome(each) for case in own for each in test_report.expanded(case, folder)]
                for name, own in found.items()}
    has_died = arguments.status != 0 and not any("failed" in each for each in outcomes.values())
    for unit in units:
        own = outcomes[unit["name"]]
        passed = own.count("passed")
        is_whole = len(found[unit["name"]]) >= len(unit.get("tests", ())) and passed > 0 and not has_died
        if "failed" in own or is_whole:
            store.add(unit["key"], unit["name"], passed, "failed" not in own)


def note_passed(arguments, store):
    units = json.loads(pathlib.Path(arguments.plan).read_text(encoding="utf-8"))["units"]
    for unit in units:
        store.add(unit["key"], unit["name"], 1, unit["name"] in arguments.names)


def show_flaky(arguments, store):
    for name, key in store.flaky(arguments.since):
        print(f"{name} (key {key[:12]})")


def parser():
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(required=True)

    def command(name, function, *positional):
        made = commands.add_parser(name)
        made.set_defaults(function=function)
        for each in positional:
            made.add_argument(each)
        return made

    ctest = command("ctest", plan_ctest, "plan", "build")
    ctest.add_argument("--label")
    ctest.add_argument("--without", action="append", default=[])
    python = command("python", plan_python, "plan", "python", "words")
    python.add_argument("folders", nargs="+")
    python.add_argument("--ignore", action="append", default=[])
    command("files", plan_files, "plan").add_argument("units", nargs="+")
    command("note", note, "plan", "report").add_argument("--status", type=int, default=0)
    command("note-passed", note_passed, "plan").add_argument("names", nargs="*")
    command("flaky", show_flaky).add_argument("--since", type=float, default=time.time())
    return top


def main():
    arguments = parser().parse_args()
    arguments.function(arguments, Store())
    return 0


if __name__ == "__main__":
    sys.exit(main())
