"""Digests: SHA-256 of files and folders, and of the machine's software."""
import functools
import hashlib
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Made by builds and tests, in whatever folder they lie.
IGNORED = {"__pycache__", "node_modules", "build", "dist", "dist-notebook", ".git", ".mypy_cache", ".pytest_cache"}
# Programs that others made are named to the tests by these.
_SETTINGS = "TRAINWARDEN_"
_NOT_OF_TESTS = {"TRAINWARDEN_PASSED", "TRAINWARDEN_FRESH"}  # of the gate itself


@functools.lru_cache(maxsize=None)
def of_file(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_in(folder):
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - IGNORED)
        for name in sorted(names):
            file = pathlib.Path(place, name)
            if file.is_file() and not name.endswith(".pyc"):
                yield file


@functools.lru_cache(maxsize=None)
def of_path(path):
    """Of a file, or of all files in a folder with their names. A path that does not exist has a digest, too."""
    path = pathlib.Path(path)
    if path.is_file():
        return of_file(path)
    return of_lines(f"{file.relative_to(path)} {of_file(file)}" for file in files_in(path))


def of_lines(lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@functools.lru_cache(maxsize=None)
def of_tree():
    """All files of the tree that git knows or would take; of a tree without git, all but what is built."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=False)
    files = [ROOT / name for name in listed.stdout.split("\0") if name] if listed.returncode == 0 else files_in(ROOT)
    return of_lines(f"{file.relative_to(ROOT)} {of_file(file)}" for file in sorted(files) if file.is_file())


@functools.lru_cache(maxsize=None)
def of_machine():
    """The system, its processors and packages, what was installed for tests, and the variables that name it."""
    packages = subprocess.run(["dpkg-query", "-W"], capture_output=True, text=True, check=False).stdout
    lists = [of_path(ROOT / "scripts" / name) for name in ("rivals.txt", "formats.txt", "torch2", "frameworks", "packages")]
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items())
                if name.startswith(_SETTINGS) and name not in _NOT_OF_TESTS]
    return of_lines([platform.platform(), str(os.cpu_count()), sys.version, packages, *lists, *settings])


def key_of(name, paths, *more):
    """The key of a test program: its name, each path that it can read with its content, the machine, and `more` text."""
    contents = (f"{path} {of_path(path)}" for path in sorted(map(str, paths)))
    return of_lines([name, of_machine(), *contents, *more])
