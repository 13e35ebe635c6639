#!/usr/bin/env python3
"""Checks that environment variables keep to the lists of them, src/core/base/*_variables.h: a header an area.

usage: check_environment_names.py [ROOT]

In src a name of a list is written in that header alone, and in one header only (tests may write it). What is written
elsewhere, in sources, messages and comments, in Python and in the documents, is a name of a list, or starts with a prefix
of one. Each name that users may set is named in docs. Prints one line for each mistake and exits 1 when there is any.
"""
import pathlib
import re
import sys

LISTS = "src/core/base/*_variables.h"
FOR_US = "// == We set these"  # the names of a list from here on need no document
NAME = re.compile(r'"(TRAINWARDEN\w*)"')
IN_TEXT = re.compile(r"\bTRAINWARDEN_[A-Z_]*[A-Z]_?")
IN_CODE = re.compile(r"""["'](TRAINWARDEN(?:_[A-Z_]+)?)(?:=\w*)?["']""")
# What is no variable of the product: macros and constants of public headers, options of the build, variables of the
# tests, of the development scripts and of the examples.
OTHER = re.compile(
    r"TRAINWARDEN_(API|OK|ERROR|TRAIN|EVAL|PREDICT|GLOBAL|ASSIGN_OR_RETURN\w*|RETURN_IF_ERROR|CONCAT\w*|CALL_\w+|KEEP_\w*|"
    r"OUTCOME_\w+|NOT_APPLICABLE|INSUFFICIENT_DATA|SEVERITY_\w+|FIRED|ABI\w*|RULE_\w+|\w+_H|ELEMENT_HASH_COMMON|KILLS|SHARED_DATA|WRITE_GOLDEN|RIVALS_PYTHON|"
    r"BUILD\w*|DEVELOPER|SANITIZE|TORCH|FUZZ|UNITY|WERROR|PYTHON_PACKAGE|KEEP_RUNS|E)$")
ROOTS = (("src", (".cc", ".h")), ("adapters", (".cc", ".h", ".py")), ("include", (".h",)))


def read_lists(root):
    """The list of each name, the list of each name that users may set, and mistakes: names that are in two lists."""
    known, users, twice = {}, {}, []
    for path in sorted(root.glob(LISTS)):
        name_of_list = path.relative_to(root).as_posix()
        for_users, _, for_us = path.read_text().partition(FOR_US)
        for name in NAME.findall(for_users + for_us):
            if name in known:
                twice.append(f"{name_of_list}: {name} is in {known[name]} too")
            known[name] = name_of_list
        users.update((name, name_of_list) for name in NAME.findall(for_users))
    if not known:
        sys.exit(f"expected the names of environment variables in {LISTS}")
    return known, users, twice


def is_known(name, known):
    if name in known or OTHER.match(name):
        return True
    return any(prefix.endswith("_") and (name.startswith(prefix) or name == prefix) for prefix in known)


def is_test(path):
    return "_test" in path.name or "testing" in path.name or "tests" in path.parts


def sources(root):
    for folder, suffixes in ROOTS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and not path.match(LISTS):
                yield path


def mistakes(root):
    known, users, twice = read_lists(root)
    yield from twice
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            in_src = name.startswith("src/") and not is_test(path.relative_to(root))
            for literal in IN_CODE.findall(line) if in_src and not line.lstrip().startswith("//") else ():
                if literal in known:
                    yield f"{name}:{number}: {literal} is written out; use variable:: of {known[literal]}"
            for word in IN_TEXT.findall(line) if not is_test(path.relative_to(root)) else ():
                if not is_known(word, known):
                    yield f"{name}:{number}: {word} is in none of {LISTS}"
    documents = "\n".join(path.read_text() for path in sorted((root / "docs").rglob("*.md")))
    named = set(re.findall(r"\bTRAINWARDEN\w*", documents))
    for name in sorted(users):
        if name not in named and not name.endswith("_"):
            yield f"{users[name]}: users may set {name}, and no page of docs names it"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = list(mistakes(root))
    for mistake in found:
        print(mistake)
    print(f"{len(read_lists(root)[0])} environment variables, {len(found)} mistakes")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
