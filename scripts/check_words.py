#!/usr/bin/env python3
"""Checks that each type has a name of its own, and that names keep to words with one meaning.

usage: check_words.py [ROOT]

A type name is defined in one header of src and include. Types inside a class are called by the name of the class and
may repeat; aliases count like types. No function of src is called tell: it says what it does (write, report, send). No
source of src is called test_*: tests end in _test, and what they share in _testing. Prints one line for each mistake and exits 1 when there is any.
"""
import pathlib
import re
import sys

# Names that are defined in more than one header, with the reason.
EXCEPTIONS = {}

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[A-Za-z_]\w*|::|\[\[|\]\]|[{}()<>;:,=*&\[\]]|\S')
KEYWORDS = ("class", "struct", "union", "enum")
TELL = re.compile(r"\b(?:tells?|told)(?:_\w+)?\s*\(")


def plain(text):
    """The text without comments, directives of the preprocessor and raw strings; lines stay where they are."""
    def blank(match):
        return "\n" * match.group(0).count("\n")
    text = re.sub(r'R"(\w*)\(.*?\)\1"', blank, text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"/\*.*?\*/", blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", blank, text, flags=re.M)


def name_of_type(tokens):
    """What the words before a `{` define: the name of a type, or None. `struct A::B` is no new name."""
    starts = [i for i, token in enumerate(tokens) if token in KEYWORDS]
    if not starts:
        return None
    if "(" in tokens[:starts[0]] or (tokens[0] == "template" and not any(t in KEYWORDS for t in after_template(tokens))):
        return None
    rest = after_template(tokens)
    if not rest or rest[0] not in KEYWORDS:
        return None
    words = [token for token in rest[1:] if token not in KEYWORDS]
    name = None
    for index, word in enumerate(words):
        if word in (":", "final"):
            break
        if word == "::" or (index > 0 and words[index - 1] == "::"):
            return None
        if word == "<":  # a specialisation defines no new name
            return None
        if re.fullmatch(r"[A-Za-z_]\w*", word):
            name = word
    return name


def after_template(tokens):
    """The tokens behind `template <...>`."""
    if not tokens or tokens[0] != "template":
        return tokens
    depth = 0
    for index, token in enumerate(tokens[1:], 1):
        depth += (token == "<") - (token == ">")
        if depth == 0:
            return tokens[index + 1:]
    return []


def defined_types(text):
    """(name, line) of each type that a header defines in a namespace."""
    scopes = []  # True: a namespace
    statement, line = [], 1
    for match in re.finditer(r"\n|" + TOKEN.pattern, plain(text)):
        token = match.group(0)
        if token == "\n":
            line += 1
        elif token == "{":
            is_namespace = "namespace" in statement or statement[:1] == ["extern"]
            if all(scopes) and not is_namespace and (name := name_of_type(statement)):
                yield name, line
            scopes.append(is_namespace)
            statement = []
        elif token == "}":
            if scopes:
                scopes.pop()
            statement = []
        elif token == ";":
            if all(scopes) and len(statement) > 2 and statement[0] == "using" and statement[2] == "=":
                yield statement[1], line
            elif all(scopes) and statement[:1] == ["enum"] and (name := name_of_type(statement)):
                yield name, line
            statement = []
        else:
            statement.append(token)


def headers(root):
    for folder in ("include", "src"):
        yield from sorted((root / folder).rglob("*.h"))


def doubled_types(root):
    places = {}
    for path in headers(root):
        for name, line in defined_types(path.read_text(encoding="utf-8")):
            places.setdefault(name, {}).setdefault(path.relative_to(root).as_posix(), line)
    for name, found in sorted(places.items()):
        if len(found) > 1 and name not in EXCEPTIONS:
            where = ", ".join(f"{path}:{line}" for path, line in found.items())
            yield f"{where}: the type {name} is defined more than once; give each a name of its own"
    for name in sorted(EXCEPTIONS):
        if (root / "scripts/check_words.py").exists() and len(places.get(name, {})) < 2:
            yield f"{name} is defined once; take it out of EXCEPTIONS of scripts/check_words.py"


def unclear_names(root):
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".cc", ".h"):
            continue
        name = path.relative_to(root).as_posix()
        if path.name.startswith("test_"):
            yield f"{name}: test_ says that it is a test; a test ends in _test, what tests share in _testing"
        for number, line in enumerate(plain(path.read_text(encoding="utf-8")).splitlines(), 1):
            if match := TELL.search(re.sub(r'"(?:[^"\\]|\\.)*"', '""', line)):
                yield f"{name}:{number}: {match.group(0)}...) does not say what it does: write, report, send, enqueue?"


def main(root):
    mistakes = [*doubled_types(root), *unclear_names(root)]
    for mistake in mistakes:
        print(mistake)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
