#!/usr/bin/env python3
"""Checks every import of the page against the table of its floors (src/floors.json).

usage: check_page_floors.py [ROOT]

Prints one line for each import that breaks the table and exits 1 when there is any.
"""
import pathlib
import posixpath
import re
import sys

import floors

# Which folders of web/src a folder may import from besides itself.
FLOORS = {floor["name"]: tuple(floor["includes"])
          for floor in floors.read(pathlib.Path(__file__).resolve().parent.parent)["page"]}
# Which folders may import a library; a sub-path counts as its library.
LIBRARIES = {
    "svelte": ("app",),
    "uplot": ("draw", "views"),
    "vitest": ("data", "draw", "views", "notebook", "app"),  # tests lie beside the sources
}
# A view of one area knows nothing of the others; these they share.
SHARED_VIEWS = re.compile(r"^views/[^/]+$")

IMPORT = re.compile(r"""^\s*(?:import|export)\b[^'"]*?from\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]"""
                    r"""|\bimport\(\s*['"]([^'"]+)['"]\s*\)|^[^'"]*\}\s*from\s*['"]([^'"]+)['"]""", re.MULTILINE)


def problem_of(path, imported):
    """What is wrong with importing `imported` in `path` (both below web/src), or None."""
    floor = path.split("/")[0] if "/" in path else None  # main.ts stands above all floors
    if not imported.startswith("."):
        library = imported.split("/")[0]
        if library not in LIBRARIES and not imported.startswith("node:"):
            return f'"{imported}" is of a library that is not in LIBRARIES of scripts/check_page_floors.py'
        if floor and library in LIBRARIES and floor not in LIBRARIES[library]:
            return f'"{imported}" may be imported only in ' + ", ".join(LIBRARIES[library])
        return None
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), imported))
    if target.startswith("..") or floor is None:
        return None
    target_floor = target.split("/")[0]
    if target_floor != floor and target_floor not in FLOORS[floor]:
        return f'"{imported}" is of {target_floor}; {floor} may import {", ".join(FLOORS[floor]) or "no other folder"}'
    if floor == "views" == target_floor and not SHARED_VIEWS.match(target) and not SHARED_VIEWS.match(path):
        if target.split("/")[1] != path.split("/")[1]:
            return f'"{imported}" is of another view; what two views share lies in web/src/views itself'
    return None


def problems_in(root, path):
    text = (root / path).read_text(encoding="utf-8")
    floor = path.split("/")[0]
    if "/" in path and floor not in FLOORS:
        yield 1, "not on a floor; the floors of the page are " + ", ".join(FLOORS)
        return
    for match in IMPORT.finditer(text):
        problem = problem_of(path, next(group for group in match.groups() if group))
        if problem:
            yield text.count("\n", 0, match.start()) + 1, problem


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent) / "web" / "src"
    files = [p.relative_to(root).as_posix() for p in sorted(root.rglob("*")) if p.suffix in (".ts", ".svelte")]
    problems = [f"web/src/{path}:{line}: {what}" for path in files for line, what in problems_in(root, path)]
    for problem in problems:
        print(problem)
    print(f"{len(files)} files of the page, {len(problems)} imports against its floors")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
