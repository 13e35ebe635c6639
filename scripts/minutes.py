#!/usr/bin/env python3
"""What the gate's stages take of the processors, beside their limits (scripts/minutes.json).

usage: minutes.py --table FILE [--cache-log FILE]     the stages of FILE ("WALL CPU NAME", a line each), and their limits
       minutes.py --stage NAME BEFORE AFTER           prints the CPU seconds of a stage; exits 1 when they are over its limit
       minutes.py --demo BEFORE AFTER TARGET...       whether these targets are as small as the demo's time asks

BEFORE and AFTER are what the shell's `times` printed before and after. A limit is in seconds of one processor, which
other work on the machine changes less than it changes the time that passes, and is that of a machine that has compiled
nothing yet. All limits together are what two processors have in the time that a change may take.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def limits():
    return json.loads((ROOT / "scripts/minutes.json").read_text(encoding="utf-8"))


def show_table(file):
    stages = limits()["stages"]
    print(f"  {'took s':>8} {'CPU s':>8} {'limit':>8}")
    walls = cpus = allowed = 0
    for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines():
        wall, cpu, name = line.split(" ", 2)
        walls, cpus, allowed = walls + int(wall), cpus + int(cpu), allowed + stages.get(name, 0)
        print(f"  {wall:>8} {cpu:>8} {stages.get(name, ''):>8}  {name}")
    print(f"  {walls:8} {cpus:8} {allowed:8}  together")


def check_stage(name, before, after):
    """Without a limit, as stages of `--all` are, nothing is over it."""
    seconds, limit = cpu_of_children(after) - cpu_of_children(before), limits()["stages"].get(name)
    print(round(seconds))
    if limit is None or seconds <= limit:
        return 0
    print(f"the stage \"{name}\" took {seconds:.0f} CPU seconds, and its limit is {limit} (scripts/minutes.json): what takes "
          "so long goes to `./dev test --all`, or gets cheaper", file=sys.stderr)
    return 1


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
    parser.add_argument("--table", metavar="FILE")
    parser.add_argument("--cache-log")
    parser.add_argument("--stage", nargs=3, metavar=("NAME", "BEFORE", "AFTER"))
    parser.add_argument("--demo", nargs="+", metavar="BEFORE AFTER TARGET")
    arguments = parser.parse_args()
    if arguments.stage:
        return check_stage(*arguments.stage)
    if arguments.demo:
        return check_demo(*arguments.demo[:2], arguments.demo[2:])
    if arguments.cache_log:
        show_cache(arguments.cache_log)
    if arguments.table:
        show_table(arguments.table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
