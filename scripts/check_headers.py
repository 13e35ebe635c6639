#!/usr/bin/env python3
"""Checks that each public header compiles alone, with g++ and with clang++.

usage: check_headers.py [ROOT] [--compiler NAME]...
"""
import argparse
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys

FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-x", "c++"]


def check(compiler, header, include):
    """What the compiler has against `header` alone, or an empty text."""
    source = f'#include "{header.relative_to(include).as_posix()}"\n'
    result = subprocess.run([compiler, *FLAGS, f"-I{include}", "-"], input=source, capture_output=True, text=True,
                            check=False)
    return result.stderr if result.returncode != 0 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).parent.parent, type=pathlib.Path)
    parser.add_argument("--compiler", action="append", help="default: g++ and clang++-14")
    arguments = parser.parse_args()
    compilers = arguments.compiler or ["g++", "clang++-14"]
    missing = [compiler for compiler in compilers if not shutil.which(compiler)]
    if missing:
        sys.exit(f"no {', '.join(missing)} on this machine; install the packages of scripts/packages")
    include = arguments.root / "include"
    headers = sorted(include.rglob("*.h"))
    jobs = [(compiler, header) for header in headers for compiler in compilers]
    with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
        answers = list(pool.map(lambda job: check(*job, include), jobs))
    broken = [(compiler, header, answer) for (compiler, header), answer in zip(jobs, answers) if answer]
    for compiler, header, answer in broken:
        print(f"{header.relative_to(arguments.root)} ({compiler}): {answer}")
    print(f"{len(headers)} headers with {' and '.join(compilers)}, {len(broken)} broken")
    return 1 if broken or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
