#!/usr/bin/env python3
"""Checks that every relative link and picture of the Markdown files leads to a file, and to a heading when it has a #.

usage: check_links.py [ROOT]
"""
import pathlib
import re
import sys

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+\s+(.+?)\s*$", re.MULTILINE)
SKIPPED_FOLDERS = ("build", "runs", ".git", "node_modules")


def anchor(heading):
    """The anchor that GitHub makes of a heading."""
    text = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
    return text.replace(" ", "-")


def anchors(path):
    return {anchor(heading) for heading in HEADING.findall(FENCE.sub("", path.read_text(encoding="utf-8")))}


def problem_of(path, link):
    """What is wrong with a link in the file `path`, or None."""
    if re.match(r"[a-z]+:", link):
        return None  # the web is not ours to check
    target, _, fragment = link.partition("#")
    file = (path.parent / target) if target else path
    if not file.exists():
        return f"leads to {target}, which does not exist"
    if fragment and file.suffix == ".md" and fragment not in anchors(file):
        return f"leads to #{fragment}, and {file.name} has no such heading"
    return None


def markdown_files(root):
    for path in sorted(root.rglob("*.md")):
        if not any(part in SKIPPED_FOLDERS for part in path.relative_to(root).parts):
            yield path


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    links = [(path, link) for path in markdown_files(root)
             for link in LINK.findall(FENCE.sub("", path.read_text(encoding="utf-8")))]
    problems = [(path, problem_of(path, link)) for path, link in links]
    broken = [(path, problem) for path, problem in problems if problem]
    for path, problem in broken:
        print(f"{path.relative_to(root)}: a link {problem}")
    print(f"{len(links)} links, {len(broken)} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
