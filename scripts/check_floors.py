#!/usr/bin/env python3
"""Checks every #include of the tree against the table of floors (src/floors.json).

usage: check_floors.py [ROOT]

Prints one line for each include that breaks the table and exits 1 when there is any.
"""
import pathlib
import re
import sys

import floors

ROOT = pathlib.Path(sys.argv[1] if __name__ == "__main__" and len(sys.argv) > 1
                    else pathlib.Path(__file__).resolve().parent.parent)
TABLE = floors.read(ROOT)
# Which floors a floor may include besides itself.
FLOORS = {floor["name"]: tuple(floor["includes"]) for floor in TABLE["floors"]}
# The floor in a folder of src.
FLOOR_IN = {floor["folder"].removeprefix("src/"): floor["name"] for floor in TABLE["floors"]}
# The floor that each public header belongs to. The umbrella header belongs to the top.
PUBLIC_HEADERS = {header: floor["name"] for floor in TABLE["floors"] for header in floor.get("public_headers", ())}
# Public headers that a floor may include although their floor is not below it: verdicts are what actions act on.
EXTRA_HEADERS = TABLE["extra_headers"]
# Headers of a floor that others may include besides the public ones: the Python package links the floors itself.
LENT_HEADERS = TABLE["lent_headers"]

# Which folders of a trainer each of its folders may include besides itself, and who outside may include which.
TRAINERS = TABLE["trainers"]
LENT_TRAINERS = TABLE["lent_trainers"]

# Those folders of a trainer that know LibTorch.
WITH_TORCH = tuple(f"trainers/bert/{folder}/" for folder in ("weights", "model", "training", "parallel", "comparison", "cli"))

# Where a library may be included; one that is not listed may be included nowhere.
LIBRARIES = {
    "fmt": ("src", "bench", "fuzz", "tests", "examples", "adapters"),
    "nlohmann": ("src", "bench", "fuzz", "tests", "examples", "trainers"),
    "caffe2": ("trainers/bert/cli",),  # LibTorch's archives
    "malloc.h": ("trainers/bert/training",),  # the C library's
    "CLI": ("src/ui/cli", "examples", "trainers", "tests/torture"),
    "nanobind": ("adapters/python",),
    "structmember.h": ("adapters/python",),  # Python's own, as are the next two
    "frameobject.h": ("adapters/python",),
    "internal": ("adapters/python",),
    "pcre2.h": ("src/core/base",),
    "hwy": ("src/data/tensor", "bench", "trainers/bert/model"),
    "unicode": ("trainers/bert/squad",),  # ICU
    "simdjson.h": ("src/data/foreign",),
    "toml++": ("src/core/base",),
    "sqlite3.h": ("src/work/catalogue",),
    "curl": ("src/core/exchange", "src/react/network", "src/store/s3"),
    "pugixml.hpp": ("src/store/s3",),
    "openssl": ("src/core/exchange", "src/react/network", "src/work/experiments", "src/work/jobs"),
    "boost": ("src/ui/server", "src/tune/search", "fuzz", "tests", "bench"),
    "page_files.h": ("src/ui/answers", "src/ui/server"),  # of web/, made from the built page
    "zip.h": ("src/read/transfer",),
    "Eigen": ("src/tune/search",),
    "png.h": ("src/read/transfer",),
    "dlpack": ("src/data/tensor",),
    "test_paths.h": ("src", "tests"),  # of the build: where sources and build lie
    "gtest": ("src", "bench", "tests", "adapters", "examples", "trainers"),
    "gmock": ("src", "bench", "tests", "adapters", "examples", "trainers"),
    "zstd.h": ("src/data/format", "src/store/journal", "bench"),
    "zlib.h": ("examples", "trainers/bert/training", "src/data/foreign", "src/read/transfer", "src/ui/answers", "src/ui/cli/commands"),
    "torch": ("adapters", "examples", "bench/demo", "bench/profiler", "tests/install", "tests/preload", *WITH_TORCH),
    "ATen": ("adapters", "examples", "bench/demo", "bench/profiler", "tests/install", "tests/preload", *WITH_TORCH),
    "c10": ("adapters", "examples", "bench/demo", "bench/profiler", "tests/install", "tests/preload", *WITH_TORCH),
}

# Headers of the operating system and of files, which turn bytes in, bytes out into I/O.
IO_HEADERS = re.compile(r"^(fstream|filesystem|unistd\.h|fcntl\.h|sys/.*|dirent\.h)$")
IO_FREE_FLOORS = ("tensor", "format", "foreign")
SYSTEM_HEADERS = re.compile(
    r"^([a-z_0-9]+"  # the C++ standard library
    r"|(dirent|dlfcn|elf|fcntl|link|poll|pthread|pty|pwd|sched|signal|spawn|stddef|stdint|stdlib|termios|unistd|cpuid|immintrin|nmmintrin|arm_acle)\.h"
    r"|(sys|linux|netinet|arpa)/[a-z_0-9]+\.h)$")

# What answers requests makes rules by judge/rules/registry.h alone: these lead to rule files, expressions and rule hosts.
REQUEST_FLOORS = ("views", "answers", "server")
BEHIND_REQUESTS = re.compile(r"\b(create_rule|parse_rule_spec|create_engine_rules)\s*\("
                             r"|\"judge/rules/(hosting|language)/")
# Rules that open files are among file_rules() of src/judge/rules/registry.cc, which no request reaches.
FILE_RULES = ("similar_across_runs.cc",)
FILE_ACCESS = re.compile(r"<(filesystem|fstream|unistd\.h|fcntl\.h)>|\"store/storage/|\b(Trial::open|popen|system|fopen)\s*\(")

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
ROOTS = ("include", "src", "adapters", "examples", "trainers", "bench", "fuzz", "tests")


def floor_below_src(path):
    """The floor of "wing/floor/file", or None."""
    parts = path.split("/")
    return FLOOR_IN.get("/".join(parts[:2])) if len(parts) > 2 else None


def floor_of(path):
    """The floor of a source file, or None outside the floors."""
    if path.startswith("src/"):
        return floor_below_src(path.removeprefix("src/"))
    if path.startswith("include/trainwarden/"):
        return PUBLIC_HEADERS.get(path.rpartition("/")[2])
    return None


def is_test(path):
    return path.endswith("_test.cc") or path.startswith("tests/")


class Checker:
    def __init__(self, root):
        self.root = root

    def check_file(self, path):
        """Yields (line number, what is wrong) for each include that breaks the table."""
        if path.startswith("include/trainwarden/") and path.count("/") == 2 and floor_of(path) is None:
            yield 1, "a public header without a floor; give it one in src/floors.json"
            return
        if path.startswith("src/") and floor_of(path) not in FLOORS:
            yield 1, "not on a floor; the floors are " + ", ".join(FLOORS)
            return
        text = (self.root / path).read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            problem = match and self.check_include(path, match.group(1) == '"', match.group(2))
            problem = problem or self.check_reach(path, line)
            if problem:
                yield number, problem

    def check_reach(self, path, line):
        """What a request could reach by this line, or None."""
        if is_test(path) or path.endswith(("_testing.h", "_testing.cc", "run_on_disk.h")):
            return None
        if floor_of(path) in REQUEST_FLOORS and BEHIND_REQUESTS.search(line):
            return "no request may reach rule files or rule hosts; make rules by judge/rules/registry.h"
        is_rule = path.startswith("src/judge/rules/builtin/") and not path.endswith(FILE_RULES)
        if is_rule and FILE_ACCESS.search(line):
            return "a rule that opens files belongs to file_rules() of src/judge/rules/registry.cc and to FILE_RULES here"
        return None

    def check_include(self, path, quoted, name):
        """What is wrong with including `name` in `path`, or None."""
        if quoted:
            return self.check_own(path, name)
        return self.check_library(path, name)

    def check_own(self, path, name):
        folder, _, file = name.partition("/")
        if folder == "trainwarden" and file in PUBLIC_HEADERS:
            return self.check_floor(path, PUBLIC_HEADERS[file], name)
        target = floor_below_src(name)
        if target:
            if any(path.startswith(place) and name in lent for place, lent in LENT_HEADERS.items()):
                return None
            if path.startswith(("include/", "adapters/", "examples/", "trainers/")):
                return f'"{name}" is internal; only src, bench, fuzz and tests may include it'
            if not (self.root / "src" / name).exists():
                return f'"{name}" does not exist under src'
            return self.check_floor(path, target, name)
        if path.startswith(("src/", "include/")):
            return f'"{name}" is neither "trainwarden/<file>" nor "<wing>/<floor>/<file>"'
        inside = not name.startswith(".") and "/" in name
        trainer = next((each for each in TRAINERS if inside and (self.root / each / name).exists()), None)
        return self.check_trainer(path, trainer, name) if trainer else self.check_local(path, name)

    @staticmethod
    def check_trainer(path, trainer, name):
        """`name` is "<folder>/<file>" of a trainer."""
        target = name.split("/")[0]
        if any(path.startswith(place) and f"{trainer}/{target}" in lent for place, lent in LENT_TRAINERS.items()):
            return None
        if not path.startswith(trainer + "/"):
            return f'"{name}" is of {trainer}, which lends it to nobody here'
        folder = path.removeprefix(trainer + "/").split("/")[0]
        allowed = TRAINERS[trainer].get(folder)
        if allowed is None:
            return f"not in a folder of {trainer}; they are " + ", ".join(TRAINERS[trainer])
        if target == folder or target in allowed:
            return None
        return f'"{name}" is of {trainer}/{target}; {folder} may include {", ".join(allowed) or "no other folder"}'

    @staticmethod
    def floor_of_include(name):
        folder, _, file = name.partition("/")
        return PUBLIC_HEADERS.get(file) if folder == "trainwarden" else floor_below_src(name)

    def check_local(self, path, name):
        """Outside the floors a file may include its neighbours and what the adapters and examples offer."""
        near = [(self.root / path).parent, *self.root.glob("adapters/*/include")]
        if path.startswith(("bench/demo", "bench/profiler")):
            near += self.root.glob("examples/*")
        if path.startswith("adapters/preload"):
            near.append(self.root / "adapters/libtorch")
        if any((folder / name).exists() for folder in near):
            return None
        return f'"{name}" is neither a public header, nor of a floor, nor a neighbour'

    def check_floor(self, path, target, name):
        floor = floor_of(path)
        if floor is None or target == floor or target in FLOORS[floor]:
            return None
        if name in ["trainwarden/" + header for header in EXTRA_HEADERS.get(floor, ())]:
            return None
        allowed = ", ".join(FLOORS[floor]) or "no other floor"
        return f'"{name}" is of floor {target}; {floor} may include {allowed}'

    def check_library(self, path, name):
        if name.startswith("trainwarden/"):
            # Consumers of the installed package write <trainwarden/...>; we do not.
            return None if path.startswith("tests/install/") else f'write "{name}" with quotes'
        library = name.split("/")[0]
        if library in LIBRARIES:
            if path.startswith(LIBRARIES[library]):
                return None
            return f"<{name}> may be included only in " + ", ".join(LIBRARIES[library])
        if not SYSTEM_HEADERS.match(name):
            return f"<{name}> is of a library that is not in LIBRARIES of scripts/check_floors.py"
        if floor_of(path) in IO_FREE_FLOORS and not is_test(path) and IO_HEADERS.match(name):
            return f"<{name}> is I/O, and floor {floor_of(path)} has none"
        return None


def source_files(root):
    for part in ROOTS:
        for path in sorted((root / part).rglob("*")):
            if path.suffix in (".h", ".cc", ".inc", ".cu") and path.is_file():
                yield path.relative_to(root).as_posix()


def idle_rights(root, checker):
    """What the table allows and nothing uses: a table that is too loose says nothing."""
    used = {name: set() for name in FLOORS}
    for path in source_files(root):
        if floor_of(path) not in FLOORS:
            continue
        for line in (root / path).read_text(encoding="utf-8").splitlines():
            if match := INCLUDE.match(line):
                used[floor_of(path)].add(checker.floor_of_include(match.group(2)))
    for name, allowed in FLOORS.items():
        for idle in sorted(set(allowed) - used[name]):
            yield f"src/floors.json: {name} may include {idle}, and nothing in it does; take it out"


def main():
    checker = Checker(ROOT)
    files = list(source_files(ROOT))
    problems = [f"{path}:{line}: {what}" for path in files for line, what in checker.check_file(path)]
    problems += idle_rights(ROOT, checker) if (ROOT / "src" / "floors.json").exists() else []
    for problem in problems:
        print(problem)
    print(f"{len(files)} files, {len(problems)} includes against the floors")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
