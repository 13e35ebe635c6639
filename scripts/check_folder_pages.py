#!/usr/bin/env python3
"""Checks the pages of the folders: README.md in each wing and floor of src, of the adapters, of the page, and in tests.

usage: check_folder_pages.py [ROOT]

Each wing and floor of src/floors.json, each part above them and each floor of the page has a README.md, and so have the
folders of ALSO. A page has at most 18 lines. What it names in backticks and looks like a path (it has a slash, or ends
as a source does) exists: from the page's own folder, from the root, or from src, as includes are written; and so does
each path that CONTRIBUTING.md names. Prints one line for each mistake and exits 1 when there is any.
"""
import pathlib
import re
import sys

import floors

MAX_LINES = 18
ALSO = ("tests", "bench", "fuzz", "scripts", "examples", "testdata")  # have a page as well
TREES = ("src", "adapters", "web/src", "tests", "bench", "fuzz")  # every page in them is one of these
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"^[\w.\-]+(/[\w.\-]+)*/?$")
ENDS_AS_FILE = re.compile(r"\.(h|cc|py|ts|svelte|css|json|md|txt|sh|toml|cmake)$")


def wanted_folders(root):
    document = floors.read(root)
    for wing in document["wings"]:
        yield f"src/{wing['name']}"
    for part in document["floors"] + document["above"]:
        yield part["folder"]
    for floor in document["page"]:
        yield f"web/src/{floor['name']}"
    yield from ALSO


def is_path(text):
    return PATH.match(text) and ("/" in text or ENDS_AS_FILE.search(text))


def exists(root, page, path):
    return any((base / path).exists() for base in (page.parent, root, root / "src"))


def missing_paths(root, page, looks=is_path):
    for path in CODE.findall(page.read_text(encoding="utf-8")):
        if looks(path) and not exists(root, page, path):
            yield f"{page.relative_to(root)}: {path} does not exist, neither here nor from the root nor from src"


def too_long(root, page):
    lines = len(page.read_text(encoding="utf-8").splitlines())
    if lines > MAX_LINES:
        yield f"{page.relative_to(root)}: {lines} lines; a page of a folder has at most {MAX_LINES}"


def pages(root):
    found = {page for tree in TREES for page in (root / tree).rglob("README.md")}
    found |= {root / folder / "README.md" for folder in wanted_folders(root)}
    return sorted(page for page in found if page.is_file())


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    wanted = list(wanted_folders(root))
    mistakes = [f"{folder}: expected a README.md that says what lies there" for folder in wanted
                if not (root / folder / "README.md").is_file()]
    found = pages(root)
    for page in found:
        mistakes.extend(too_long(root, page))
        mistakes.extend(missing_paths(root, page))
    guide = root / "CONTRIBUTING.md"
    if guide.is_file():
        mistakes.extend(missing_paths(root, guide, lambda text: "/" in text and is_path(text)))
    for mistake in mistakes:
        print(mistake)
    print(f"{len(found)} pages of folders, {len(mistakes)} mistakes")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
