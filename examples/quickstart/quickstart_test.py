"""Checks docs/guide/cpp.md: its C++ is what the examples compile, and its programs run.

Usage: quickstart_test.py SOURCE_DIR QUICKSTART_PROGRAM WITHOUT_LIBTORCH_PROGRAM
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def lines_of(text):
    """The lines without indentation; blank ones are left out."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def contains(lines, part):
    return any(lines[i : i + len(part)] == part for i in range(len(lines) - len(part) + 1))


def check_snippets(source_dir):
    guide = (source_dir / "docs/guide/cpp.md").read_text()
    sources = [p for p in sorted((source_dir / "examples").rglob("*")) if p.suffix in (".cc", ".h")]
    programs = [lines_of(path.read_text()) for path in sources]
    snippets = re.findall(r"```cpp\n(.*?)```", guide, re.S)
    assert len(snippets) >= 3, "docs/guide/cpp.md has lost its C++"
    for snippet in snippets:
        part = lines_of(snippet)
        assert any(contains(program, part) for program in programs), "in no example:\n" + snippet


def check_program(program, run_dir):
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TRAINWARDEN_")}
        environment["OMP_NUM_THREADS"] = "1"
        subprocess.run([program], cwd=folder, env=environment, check=True)
        assert (pathlib.Path(folder) / run_dir / "run.json").is_file(), f"{program} left no run in {run_dir}"


check_snippets(pathlib.Path(sys.argv[1]))
check_program(sys.argv[2], "runs/sine")
check_program(sys.argv[3], "runs/fit")
