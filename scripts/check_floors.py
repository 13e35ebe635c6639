#!/usr/bin/env python3
"""Checks every #include of the tree against the table of floors (ARCHITECTURE.md, "Floors").

usage: check_floors.py [ROOT]

Prints one line for each include that breaks the table and exits 1 when there is any.
"""
import pathlib
import re
import sys

# Which floors a floor may include besides itself.
FLOORS = {
    "base": (),
    "process": ("base",),
    "tensor": ("base",),
    "format": ("base", "tensor"),
    "foreign": ("base", "tensor", "format"),
    "storage": ("base",),
    "device": ("base", "tensor"),
    "store": ("base", "tensor", "format", "storage"),
    "capture": ("base", "tensor", "format", "foreign", "storage", "device", "store"),
    "trial": ("base", "tensor", "format", "foreign", "storage", "store"),
    "transfer": ("base", "tensor", "format", "foreign", "storage", "store", "trial"),
    "rules": ("base", "process", "tensor", "format", "storage", "store", "trial"),
    "actions": ("base", "process", "tensor", "format", "storage"),
    "match": ("base",),
    "events": ("base", "tensor", "format", "storage", "store", "trial", "rules", "actions"),
    "delivery": ("base", "tensor", "format", "storage", "match", "events", "actions"),
    "network": ("base", "tensor", "format", "storage", "actions"),
    "watch": ("base", "tensor", "format", "storage", "store", "trial", "rules", "actions", "match", "events",
              "delivery"),
    "launch": ("base", "process", "tensor", "format", "storage", "store", "trial", "rules", "actions", "match", "events",
               "delivery", "watch"),
    "guard": ("base", "tensor", "format", "storage", "device", "store", "capture", "trial", "rules"),
    "views": ("base", "tensor", "format", "storage", "store", "trial", "transfer", "rules", "actions", "match", "events",
              "delivery", "watch"),
    "server": ("base", "tensor", "format", "storage", "store", "trial", "transfer", "rules", "actions", "match", "events",
               "delivery", "watch", "views"),
    "cli": ("base", "process", "tensor", "format", "storage", "device", "store", "capture", "trial",
            "transfer", "rules", "actions", "match", "events", "delivery", "network", "watch", "launch", "guard", "views", "server"),
}

# The floor that each public header belongs to. The umbrella header belongs to the top.
PUBLIC_HEADERS = {
    "export.h": "base", "metric.h": "base", "mode.h": "base", "run_loss.h": "base", "status.h": "base", "version.h": "base",
    "dtype.h": "tensor", "reduction.h": "tensor", "statistics.h": "tensor", "tensor_value.h": "tensor",
    "tensor_view.h": "tensor",
    "collection.h": "format", "save_policy.h": "format",
    "hook.h": "capture",
    "trial.h": "trial",
    "transfer.h": "transfer",
    "rule.h": "rules", "rule_abi.h": "rules",
    "describe.h": "events",
    "control.h": "watch", "watch.h": "watch",
    "guard.h": "guard",
    "trainwarden.h": "cli",
}

# Public headers that a floor may include although their floor is not below it.
EXTRA_HEADERS = {"actions": ("rule.h",)}  # verdicts are what actions act on

# Headers of a floor that others may include besides the public ones: the Python package links the floors itself.
LENT_HEADERS = {"adapters/python": ("server/answers.h", "capture/idle_steps.h")}

# Where a library may be included; one that is not listed may be included nowhere.
LIBRARIES = {
    "fmt": ("src", "bench", "fuzz", "tests", "examples", "adapters"),
    "nlohmann": ("src", "bench", "fuzz", "tests", "examples"),
    "CLI": ("src/cli", "examples"),
    "nanobind": ("adapters/python",),
    "structmember.h": ("adapters/python",),  # Python's own
    "pcre2.h": ("src/base",),
    "hwy": ("src/tensor", "bench"),
    "simdjson.h": ("src/foreign",),
    "toml++": ("src/base",),
    "curl": ("src/network",),
    "openssl": ("src/network",),
    "boost": ("src/server", "fuzz", "tests", "bench"),
    "page_files.h": ("src/server",),  # of web/, made from the built page
    "zip.h": ("src/transfer",),
    "png.h": ("src/transfer",),
    "dlpack": ("src/tensor",),
    "test_paths.h": ("src", "tests"),  # of the build: where sources and build lie
    "gtest": ("src", "bench", "tests", "adapters", "examples"),
    "gmock": ("src", "bench", "tests", "adapters", "examples"),
    "zlib.h": ("examples", "src/server"),
    "torch": ("adapters", "examples", "bench/demo", "tests/install", "tests/preload"),
    "ATen": ("adapters", "examples", "bench/demo", "tests/install", "tests/preload"),
    "c10": ("adapters", "examples", "bench/demo", "tests/install", "tests/preload"),
}

# Headers of the operating system and of files, which turn bytes in, bytes out into I/O.
IO_HEADERS = re.compile(r"^(fstream|filesystem|unistd\.h|fcntl\.h|sys/.*|dirent\.h)$")
IO_FREE_FLOORS = ("tensor", "format", "foreign")
SYSTEM_HEADERS = re.compile(
    r"^([a-z_0-9]+"  # the C++ standard library
    r"|(dirent|dlfcn|elf|fcntl|link|poll|pthread|pty|sched|signal|spawn|stddef|stdint|stdlib|termios|unistd|cpuid|immintrin|nmmintrin|arm_acle)\.h"
    r"|(sys|linux|netinet|arpa)/[a-z_0-9]+\.h)$")

# What answers requests makes rules by rules/registry.h alone: these lead to rule files, expressions and rule hosts.
REQUEST_FLOORS = ("views", "server")
BEHIND_REQUESTS = re.compile(r"\b(create_rule|parse_rule_spec|create_engine_rules)\s*\(|\"rules/(hosting|language)/")
# Rules that open files are among file_rules() of src/rules/registry.cc, which no request reaches.
FILE_RULES = ("similar_across_runs.cc",)
FILE_ACCESS = re.compile(r"<(filesystem|fstream|unistd\.h|fcntl\.h)>|\"storage/|\b(Trial::open|popen|system|fopen)\s*\(")

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
ROOTS = ("include", "src", "adapters", "examples", "bench", "fuzz", "tests")


def floor_of(path):
    """The floor of a source file, or None outside the floors."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if path.startswith("include/trainwarden/"):
        return PUBLIC_HEADERS.get(parts[-1])
    return None


def is_test(path):
    return path.endswith("_test.cc") or path.startswith("tests/")


class Checker:
    def __init__(self, root):
        self.root = root

    def check_file(self, path):
        """Yields (line number, what is wrong) for each include that breaks the table."""
        if path.startswith("include/trainwarden/") and path.count("/") == 2 and floor_of(path) is None:
            yield 1, "a public header without a floor; give it one in PUBLIC_HEADERS of scripts/check_floors.py"
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
            return "no request may reach rule files or rule hosts; make rules by rules/registry.h"
        is_rule = path.startswith("src/rules/builtin/") and not path.endswith(FILE_RULES)
        if is_rule and FILE_ACCESS.search(line):
            return "a rule that opens files belongs to file_rules() of src/rules/registry.cc and to FILE_RULES here"
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
        if folder in FLOORS and file:
            if any(path.startswith(place) and name in lent for place, lent in LENT_HEADERS.items()):
                return None
            if path.startswith(("include/", "adapters/", "examples/")):
                return f'"{name}" is internal; only src, bench, fuzz and tests may include it'
            if not (self.root / "src" / name).exists():
                return f'"{name}" does not exist under src'
            return self.check_floor(path, folder, name)
        if path.startswith(("src/", "include/")):
            return f'"{name}" is neither "trainwarden/<file>" nor "<floor>/<file>"'
        return self.check_local(path, name)

    def check_local(self, path, name):
        """Outside the floors a file may include its neighbours and what the adapters and examples offer."""
        near = [(self.root / path).parent, *self.root.glob("adapters/*/include")]
        if path.startswith("bench/demo"):
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


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    checker = Checker(root)
    files = list(source_files(root))
    problems = [f"{path}:{line}: {what}" for path in files for line, what in checker.check_file(path)]
    for problem in problems:
        print(problem)
    print(f"{len(files)} files, {len(problems)} includes against the floors")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
