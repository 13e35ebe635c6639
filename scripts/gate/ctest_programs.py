"""The test programs of CTest in a build folder, and what each of them can read.

What a program can read is known from the build itself: its binary; the programs and modules that its target depends on,
all the way down; files of the tree that a compile definition, an argument or the property REQUIRED_FILES names; and what
sources of its folder, and of the libraries for tests that it links, name with TW_SOURCE_DIR. A test whose reading is not
known this way depends on the whole tree.
"""
import collections
import functools
import json
import pathlib
import re
import subprocess

from digests import ROOT, key_of, of_path, of_tree

STARTED = ("EXECUTABLE", "SHARED_LIBRARY", "MODULE_LIBRARY")
_DEFINED_PATH = re.compile(r'^\w+="(/[^"]+)"$')
_NAMED_PATH = re.compile(r'TW_SOURCE_DIR\)?\s*[/+,]?\s*"/?([^"{]*)')
_COMMENT = re.compile(r"//.*")
_WHOLE_TREE = object()


class Targets:
    """What CMake's file API says of a build folder, which asked for it (scripts/build.sh)."""

    def __init__(self, build):
        self._build = build
        reply = build / ".cmake/api/v1/reply"
        index = json.loads(max(reply.glob("index-*.json")).read_text(encoding="utf-8"))
        model = json.loads((reply / index["reply"]["codemodel-v2"]["jsonFile"]).read_text(encoding="utf-8"))
        listed = model["configurations"][0]["targets"]
        self._targets = {each["id"]: json.loads((reply / each["jsonFile"]).read_text(encoding="utf-8")) for each in listed}
        self._by_artifact = {self._artifact(each): each for each in self._targets.values() if self._artifact(each)}

    def _artifact(self, target):
        """The file that it makes: of a library with links to it, the first."""
        artifacts = target.get("artifacts", ())
        return (self._build / artifacts[0]["path"]).resolve() if artifacts else None

    def of_file(self, path):
        return self._by_artifact.get(pathlib.Path(path).resolve())

    @functools.lru_cache(maxsize=None)
    def all_below(self, target_id):
        """The target and all that it depends on."""
        found, waiting = {}, [target_id]
        while waiting:
            target = self._targets.get(waiting.pop())
            if target is not None and target["id"] not in found:
                found[target["id"]] = target
                waiting += [each["id"] for each in target.get("dependencies", ())]
        return tuple(found.values())

    @functools.lru_cache(maxsize=None)
    def inputs(self, target_id):
        """Paths that a program of this target can read or start."""
        paths = set()
        for target in self.all_below(target_id):
            if target["type"] in STARTED:
                paths.add(self._artifact(target))
            paths |= _defined_paths(target)
            sources = {ROOT / each["path"] for each in target.get("sources", ())}
            headers = {header for folder in {source.parent for source in sources} for header in folder.glob("*.h")}
            for source in sources | headers:
                paths |= _named_in(source)
        return frozenset(paths)


def _defined_paths(target):
    defined = (each["define"] for group in target.get("compileGroups", ()) for each in group.get("defines", ()))
    found = (_DEFINED_PATH.match(each.replace("\\", "")) for each in defined)
    return {path for each in found if each and _is_of_tree(path := pathlib.Path(each[1]))}


def _is_of_tree(path):
    return path.is_relative_to(ROOT) and path.exists() and path not in (ROOT, ROOT / "build")


@functools.lru_cache(maxsize=None)
def _named_in(source):
    """What a source names below TW_SOURCE_DIR."""
    if source.suffix not in (".h", ".cc") or not source.is_file():
        return frozenset()
    text = _COMMENT.sub("", source.read_text(encoding="utf-8"))
    named = _NAMED_PATH.findall(text)
    if len(named) < text.count("TW_SOURCE_DIR"):
        named.append("")
    return frozenset(_existing(name) for name in named)


def _existing(name):
    """The path below the tree's root; of one that is put together from parts, the folder that is sure. Data beside the tree
    may be missing."""
    path = ROOT / name
    if name.startswith(".."):
        return path
    while path != ROOT and not path.exists():
        path = path.parent
    if path == ROOT:
        return _WHOLE_TREE
    return path.parent if path.suffix == ".py" else path


class Unit:
    """One test program of CTest: all cases of a binary of ours, or one test that is a script."""

    def __init__(self, name):
        self.name = name
        self.numbers = []  # of its tests in CTest's list, from 1
        self.tests = []
        self.labels = set()
        self.key = ""


def units_of(build):
    """[Unit] with their keys, in CTest's order."""
    build = pathlib.Path(build).resolve()
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True)
    targets, units = Targets(build), {}
    groups = collections.defaultdict(list)
    for number, test in enumerate(json.loads(listing.stdout)["tests"], 1):
        name = _unit_name(build, targets, test)
        unit = units.setdefault(name, Unit(name))
        unit.numbers.append(number)
        unit.tests.append(test["name"])
        unit.labels |= set(_property(test, "LABELS") or ())
        groups[name].append(test)
    for unit in units.values():
        unit.key = _key(build, targets, unit.name, groups[unit.name])
    return list(units.values())


def _unit_name(build, targets, test):
    command = test.get("command") or [""]
    target = targets.of_file(command[0]) if pathlib.Path(command[0]).is_relative_to(build) else None
    is_case = all(word.startswith("--gtest") for word in command[1:])
    return target["name"] if target is not None and is_case else test["name"]


def _property(test, name):
    return next((each["value"] for each in test.get("properties", ()) if each["name"] == name), None)


def _key(build, targets, name, tests):
    paths, words, is_known = set(), [], True
    for test in tests:
        command = test.get("command") or []
        words += [word for word in command if not word.startswith("--gtest")]
        words += _property(test, "ENVIRONMENT") or []
        required = [pathlib.Path(each) for each in _property(test, "REQUIRED_FILES") or ()]
        paths |= set(required)
        in_build = {word for word in command if pathlib.Path(word).is_relative_to(build) and pathlib.Path(word).exists()}
        for word in in_build:
            target = targets.of_file(word)
            paths |= targets.inputs(target["id"]) if target is not None else {pathlib.Path(word)}
        is_binary = bool(command) and targets.of_file(command[0]) is not None
        is_known = is_known and (is_binary or bool(required))
    if not is_known or _WHOLE_TREE in paths:
        words.append(of_tree())
    return key_of(f"{build.name} {name}", paths - {_WHOLE_TREE, None}, *sorted(set(words)))
