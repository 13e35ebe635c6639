#!/usr/bin/env python3
"""Checks the walks through the code, docs/walks: each stop names a function that its file has.

usage: check_walks.py [ROOT]

A stop is a row of a table: | 3 | `src/store/journal/journal_writer.cc` | `JournalWriter::open` | what happens |. Stops
are numbered from 1 over the whole page. The function is defined or declared in the file; a method, in its class. Prints
one line for each mistake and exits 1 when there is any.
"""
import pathlib
import re
import sys

STOP = re.compile(r"^\|\s*(\d+)\s*\|([^|]*)\|([^|]*)\|(.*)\|\s*$")
IN_BACKTICKS = re.compile(r"^\s*`([^`]+)`\s*$")
NAME = re.compile(r"^~?\w+((::|\.)~?\w+)*$")


def has_in_cpp(text, names):
    """A definition or declaration begins at the margin, what lies in a class or struct stands below its head."""
    own = re.escape(names[-1])
    if len(names) == 1:
        function = rf"^([^\s/#][^\n;={{]*[\s*&])?{own}\("
        type_ = rf"^(class|struct)[^\n;]*\b{own}\b[^\n;]*{{"
        return re.search(f"{function}|{type_}", text, re.MULTILINE) is not None
    qualified = r"(<\w+>)?::".join(re.escape(name) for name in names[-2:])
    if re.search(rf"^(\S[^\n;=]*[\s*&:])?{qualified}\(", text, re.MULTILINE):
        return True
    body = re.search(rf"^(class|struct)\s[^\n;]*\b{re.escape(names[-2])}\b[^\n;]*{{(.*?)^}}", text,
                     re.MULTILINE | re.DOTALL)
    return body is not None and re.search(rf"^  (?! )(?!return\b)[^\n/;={{]*\b{own}\(", body.group(2), re.MULTILINE) is not None


def has_in_python(text, names):
    body = text
    if len(names) > 1:
        found = re.search(rf"^class {re.escape(names[-2])}\b.*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
        body = found.group(0) if found else ""
    return re.search(rf"^\s*(async )?(def|class) {re.escape(names[-1])}\b", body, re.MULTILINE) is not None


def has_in_typescript(text, names):
    own = re.escape(names[-1])
    if len(names) == 1:
        return re.search(rf"\b(function|class|interface|const) {own}\b", text) is not None
    body = re.search(rf"\bclass {re.escape(names[-2])}\b.*?^}}", text, re.MULTILINE | re.DOTALL)
    method = rf"^  (?! )((public|private|async|static|get) )*{own}\s*(<[^\n]*>)?\("
    return body is not None and re.search(method, body.group(0), re.MULTILINE) is not None


HAS = {".cc": has_in_cpp, ".h": has_in_cpp, ".py": has_in_python, ".ts": has_in_typescript,
       ".svelte": has_in_typescript}


def problem_of(root, path, function):
    """What is wrong with a stop, or None."""
    file, name = IN_BACKTICKS.match(path), IN_BACKTICKS.match(function)
    if not file or not name or not NAME.match(name.group(1)):
        return f"expected `path` and `Class::method` or `function`, found {path.strip()} and {function.strip()}"
    file, name = root / file.group(1), name.group(1)
    if not file.is_file():
        return f"{path.strip()} does not exist"
    has = HAS.get(file.suffix)
    if has is None:
        return f"{path.strip()}: expected a file that ends in {', '.join(HAS)}"
    if not has(file.read_text(encoding="utf-8"), re.split(r"::|\.", name)):
        return f"{path.strip()} does not define or declare `{name}`"
    return None


def mistakes_of(root, page):
    name, stops = page.relative_to(root), 0
    for line in page.read_text(encoding="utf-8").splitlines():
        stop = STOP.match(line)
        if not stop:
            continue
        stops += 1
        number, path, function, what = stop.groups()
        if int(number) != stops:
            yield f"{name}: stop {number} should be number {stops}"
        if not what.strip():
            yield f"{name}: stop {number} does not say what happens"
        problem = problem_of(root, path, function)
        if problem:
            yield f"{name}: stop {number}: {problem}"
    if stops == 0:
        yield f"{name}: no stop; a stop is a row | 1 | `path` | `function` | what happens |"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    pages = sorted((root / "docs" / "walks").glob("*.md"))
    mistakes = [mistake for page in pages for mistake in mistakes_of(root, page)]
    if not pages:
        mistakes.append("docs/walks: expected a page for each walk, found none")
    for mistake in mistakes:
        print(mistake)
    print(f"{len(pages)} walks, {len(mistakes)} mistakes")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
