#!/usr/bin/env python3
"""What a test runner's JUnit file says, for scripts/test.sh.

usage: test_report.py REPORT

A test of ctest that is a whole program, with a report of its own in the folder `cases` beside REPORT, counts as the
cases of that program. Prints "TESTS FAILED SKIPPED", and then the name of each test that failed, one a line. Exits 1,
with the reason, when the file is none or has no tests.
"""
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

SKIPPED = ("notrun", "disabled")  # the status that ctest gives to what it did not run


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("status") in SKIPPED:
        return "skipped"
    return "passed"


def name_of(case):
    """ctest repeats a test's name as its class; pytest and vitest give the file there."""
    place, name = case.get("classname", ""), case.get("name", "?")
    return name if place in ("", name) else f"{place}: {name}"


def cases_of(report):
    return list(ElementTree.parse(report).getroot().iter("testcase"))


def expanded(case, folder):
    """The cases of the program that this is; itself as well when it failed in another way than by one of them."""
    report = folder / f"{case.get('name')}.xml"
    if not report.exists():
        return [case]
    inner = cases_of(report)
    told = outcome(case) != "failed" or any(outcome(each) == "failed" for each in inner)
    return inner if told else [*inner, case]


def main(path):
    try:
        folder = pathlib.Path(path).parent / "cases"
        cases = [each for case in cases_of(path) for each in expanded(case, folder)]
    except (OSError, ElementTree.ParseError) as error:
        print(f"{path}: expected a JUnit report: {error}", file=sys.stderr)
        return 1
    if not cases:
        print(f"{path}: a report without tests", file=sys.stderr)
        return 1
    outcomes = [outcome(case) for case in cases]
    print(len(cases), outcomes.count("failed"), outcomes.count("skipped"))
    for case, found in zip(cases, outcomes):
        if found == "failed":
            print(" ".join(name_of(case).split()))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
