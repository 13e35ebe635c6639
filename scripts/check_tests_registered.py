#!/usr/bin/env python3
"""Checks that every test, fuzz target and benchmark on disk is built: that a CMakeLists.txt which is reached names it.

usage: check_tests_registered.py [ROOT]

A test program may be listed by its file name only; a fuzz target or a benchmark also by the name of its program.
Prints one line for each file that nothing builds and exits 1 when there is any.
"""
import pathlib
import re
import sys

import floors

PATTERNS = ("*_test.cc", "*_test.py", "fuzz_*.cc", "*_bench.cc")
ROOTS = ("src", "adapters", "examples", "trainers", "tests", "bench", "fuzz", "docs")
SUBDIRECTORY = re.compile(r"add_subdirectory\(\s*([^\s)]+)")
EACH_FLOOR = "${tw_folder_${floor}}"  # of CMakeLists.txt


def commands(folder):
    """The text of the folder's CMakeLists.txt without its comments."""
    lines = (folder / "CMakeLists.txt").read_text(encoding="utf-8").splitlines()
    return "\n".join(line.split("#")[0] for line in lines)


def subdirectories(folder):
    """What its add_subdirectory lines lead to; one of them may stand for all floors of the table."""
    for name in SUBDIRECTORY.findall(commands(folder)):
        if name == EACH_FLOOR:
            yield from (folder / floor["folder"] for floor in floors.read(folder)["floors"])
        else:
            yield folder / name


def reached_folders(folder):
    """The folder and all that its add_subdirectory lines lead to."""
    yield folder
    for below in subdirectories(folder):
        if (below / "CMakeLists.txt").is_file():
            yield from reached_folders(below)


def registered_words(root):
    """Maps each reached folder to the words of its CMakeLists.txt."""
    return {folder.resolve(): {word.lstrip("/") for word in re.findall(r"[\w./-]+", commands(folder))}  # after ${a folder}
            for folder in reached_folders(root)}


def is_registered(path, words_by_folder):
    for folder in path.resolve().parents:
        words = words_by_folder.get(folder, ())
        names = {path.name, path.resolve().relative_to(folder).as_posix()}
        if not path.stem.endswith("_test"):
            names.add(path.stem)
        if names & set(words):
            return True
    return False


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    words_by_folder = registered_words(root)
    files = sorted(path for part in ROOTS for pattern in PATTERNS for path in (root / part).rglob(pattern))
    missing = [path for path in files if not is_registered(path, words_by_folder)]
    for path in missing:
        print(f"{path.relative_to(root)}: no CMakeLists.txt that is reached names it, so it never runs; list it there")
    print(f"{len(files)} tests, fuzz targets and benchmarks, {len(missing)} not registered")
    return 1 if missing or not files else 0


if __name__ == "__main__":
    sys.exit(main())
