#!/usr/bin/env python3
"""What each wing takes of the gate's time, compiling and testing, beside its allotment (scripts/minutes.json).

usage: minutes.py --since SECONDS [--cache-log FILE]        what was taken since then (seconds since 1970)
       minutes.py --demo BEFORE AFTER TARGET...             whether these targets are as small as the demo's time asks

Reads the log of ninja and the report and list of ctest in build/<preset>. BEFORE and AFTER are what the shell's `times`
printed before and after their build. Exits 1 when the demo needs more than its share.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRESETS = ("release", "asan", "asan-programs", "tsan")


def limits():
    return json.loads((ROOT / "scripts/minutes.json").read_text(encoding="utf-8"))


def part_of(path):
    """The row that a file of the tree or of a build folder belongs to: a wing, or a folder beside src."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 1:
        return parts[1]
    return parts[0] if parts[0] in ("adapters", "examples", "tests", "bench", "fuzz", "web", "trainers") else "the rest"


def compiled(build, since):
    """{output: seconds} of what ninja made in `build` since then."""
    took = {}
    try:
        lines = (build / ".ninja_log").read_text(encoding="utf-8").splitlines()
    except OSError:
        return took
    for line in lines:
        fields = line.split("\t")
        if len(fields) == 5 and int(fields[2]) / 1e9 >= since:
            took[fields[3].removeprefix(f"{build}/").removeprefix(f"{ROOT}/")] = (int(fields[1]) - int(fields[0])) / 1000
    return took


def tested(build, since):
    """{folder below the build folder: seconds} of what ctest ran in `build` since then."""
    report = build / "ctest.xml"
    took = collections.Counter()
    if not report.exists() or report.stat().st_mtime < since:
        return took
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True,
                             check=True)
    folders = {test["name"]: property_of(test, "WORKING_DIRECTORY") for test in json.loads(listing.stdout)["tests"]}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        folder = folders.get(case.get("name")) or str(build)
        took[folder.removeprefix(f"{build}/")] += float(case.get("time") or 0)
    return took


def property_of(test, name):
    return next((each["value"] for each in test.get("properties", ()) if each["name"] == name), None)


def show_table(since):
    rows = collections.defaultdict(lambda: [0.0, 0.0])
    for preset in PRESETS:
        build = ROOT / "build" / preset
        for output, seconds in compiled(build, since).items():
            rows[part_of(output)][0] += seconds
        for folder, seconds in tested(build, since).items():
            rows[part_of(folder)][1] += seconds
    allotted = limits()["minutes"]
    print("Minutes of one core. A gate of 45 minutes on two cores has 90 of them; pages, Python and fuzzing take their own.")
    print(f"  {'':10} {'compiled':>9} {'tested':>9} {'together':>9} {'allotted':>9}")
    for name in [*allotted, *sorted(set(rows) - set(allotted))]:
        compiling, testing = (seconds / 60 for seconds in rows[name])
        share = allotted.get(name)
        over = share is not None and compiling + testing > share
        print(f"  {name:10} {compiling:9.1f} {testing:9.1f} {compiling + testing:9.1f} "
              f"{'' if share is None else format(share, '9.1f'):>9}{'  more than its allotment' if over else ''}")


def show_cache(log):
    """Whether this was cold or warm: how many sources the compiler's cache had."""
    try:
        said = subprocess.run(["ccache", "--show-log-stats"], capture_output=True, text=True, check=True,
                              env={"CCACHE_STATSLOG": log, "PATH": "/usr/bin:/bin", "HOME": "/"}).stdout
        hits, all_of_them = map(int, re.search(r"Hits:\s+(\d+)\s*/\s*(\d+)", said).groups())
    except (OSError, subprocess.CalledProcessError, AttributeError):
        print("cold: no source came from a compiler cache")
        return
    word = "cold" if hits == 0 else "warm" if hits == all_of_them else "partly warm"
    print(f"{word}: {hits} of {all_of_them} compiled sources came from the compiler's cache")


def cpu_of_children(file):
    """Seconds: the second line of what the shell's `times` prints, "4m12.345s 0m9.876s"."""
    line = pathlib.Path(file).read_text(encoding="utf-8").splitlines()[1]
    return sum(60 * int(minutes) + float(seconds) for minutes, seconds in re.findall(r"(\d+)m([\d.]+)s", line))


def check_demo(before, after, targets):
    """How many objects there are, and how large: that grows as what is to be compiled does, on whatever machine. Seconds of a
    processor are told and not judged: a slower or busier machine takes more."""
    build = ROOT / "build/release"
    listing = subprocess.run(["ninja", "-C", build, "-t", "inputs", *targets], capture_output=True, text=True, check=True)
    files = [build / line for line in listing.stdout.splitlines() if line.endswith(".o")]
    objects, megabytes = len(files), sum(file.stat().st_size for file in files) / 1e6
    seconds = cpu_of_children(after) - cpu_of_children(before)
    limit = limits()["demo"]
    print(f"the demo needs {objects} objects (at most {limit['objects']}) of {megabytes:.1f} MB (at most "
          f"{limit['megabytes']}), whose build took {seconds:.0f} CPU seconds in this run")
    if objects == 0:
        print(f"expected the objects of {' '.join(targets)} in {build}")
    return 0 if 0 < objects <= limit["objects"] and megabytes <= limit["megabytes"] else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", type=float, default=0)
    parser.add_argument("--cache-log")
    parser.add_argument("--demo", nargs="+", metavar="BEFORE AFTER TARGET")
    arguments = parser.parse_args()
    if arguments.demo:
        return check_demo(*arguments.demo[:2], arguments.demo[2:])
    if arguments.cache_log:
        show_cache(arguments.cache_log)
    show_table(arguments.since)
    return 0


if __name__ == "__main__":
    sys.exit(main())
