"""The test files of pytest, and what each of them can read.

A file depends on itself, on the modules and data beside it, on all Python sources of our packages and on the compiled core
that is installed; on the program `trainwarden` where it or what it imports can start one; and on documents and examples
where it looks above its own folder.
"""
import functools
import pathlib
import re
import subprocess

from digests import ROOT, files_in, key_of

ADAPTERS = ROOT / "adapters"
# Who names the program, or what of our package starts it: jobs, studies, buckets. Of smdebug, sagemaker and sda all may.
_STARTS = re.compile(r"""["']trainwarden["'][,)]|TRAINWARDEN_PROGRAM|_program\b|\bjobs?\b|tuning|experiment|bucket|s3://""")
_IMPORTED = re.compile(r"^\s*(?:from|import) +\.?(\w+)", re.MULTILINE)
_LOOKS_ABOVE = re.compile(r"Path\(__file__\)(?:\.resolve\(\))?\.(?:parents\[[2-9]|parent\.parent\.parent)")
_ABOVE = {"docs": "docs", "examples": "examples", "testdata": "testdata", "tests": "tests", "trainers": "trainers", "src": "src",
          "scripts": "scripts", "bench": "bench", "web": "web", "include": "include", "README.md": "README.md", "shared": "../shared/data"}


class Unit:
    """One file of tests."""

    def __init__(self, file, key):
        self.name = str(file.relative_to(ROOT))
        self.prefix = self.name.removesuffix(".py").replace("/", ".")
        self.key = key


def test_files(folders, ignored=()):
    found = []
    for folder in map(pathlib.Path, folders):
        files = [folder] if folder.is_file() else folder.rglob("test_*.py")
        found += [file.resolve() for file in files]
    outside = [pathlib.Path(each).resolve() for each in ignored]
    return sorted(file for file in set(found) if not any(file.is_relative_to(each) for each in outside))


def units_of(files, python, *more):
    """[Unit] with their keys; `more` is text that is part of each, such as the arguments of pytest."""
    installed = _installed(python)
    core = [path for path in installed.values() if path is not None and path.suffix == ".so"]
    words = [*more, *_distributions(python)]
    return [Unit(file, key_of(f"{python} {file}", _inputs(file, core, installed["program"]), *words)) for file in files]


def _inputs(file, core, program):
    tests = next(each for each in file.parents if each.name == "tests")
    beside = [each for each in files_in(tests) if not each.name.startswith("test_")]
    conftests = [folder / "conftest.py" for folder in file.parents if folder.is_relative_to(tests) and folder != tests]
    read = (file, *_imported(file, tests), *filter(pathlib.Path.exists, conftests))
    text = "\n".join(each.read_text(encoding="utf-8") for each in read)
    paths = {file, *beside, *core, *_package_sources(), ROOT / "tests" / "servers"}
    if program is not None and (tests.parent.name != "python" or _STARTS.search(text)):
        paths.add(program)
    if _LOOKS_ABOVE.search(text):
        named = {path for name, path in _ABOVE.items() if re.search(rf"""["'/]{name}["'/]""", text)}
        paths |= {ROOT / path for path in named or _ABOVE.values()}
    return paths


def _imported(file, tests):
    """The modules for tests that a file imports, with those that they import, and what pytest reads on the way to it."""
    by_name = {each.stem: each for each in tests.rglob("*.py") if not each.name.startswith("test_")}
    found, waiting = [], [file]
    while waiting:
        for name in _IMPORTED.findall(waiting.pop().read_text(encoding="utf-8")):
            if name in by_name and by_name[name] not in found:
                found.append(by_name[name])
                waiting.append(by_name[name])
    return found


@functools.lru_cache(maxsize=None)
def _package_sources():
    return tuple(file for folder in ADAPTERS.iterdir() if folder.is_dir() for file in files_in(folder)
                 if file.suffix in (".py", ".pth", ".toml", ".pyi", ".md", ".txt") and "tests" not in file.relative_to(ADAPTERS).parts)


def _installed(python):
    """Where an environment has our compiled core, the library of buckets and the program; None where it has none."""
    script = ("import importlib.util, pathlib, sysconfig; spec = importlib.util.find_spec('trainwarden'); "
              "folder = pathlib.Path(spec.origin).parent if spec else None; "
              "print(next(iter(folder.glob('_core*.so')), '') if folder else ''); "
              "print(next(iter(folder.glob('libtrainwarden_buckets*')), '') if folder else ''); "
              "program = pathlib.Path(sysconfig.get_path('scripts'), 'trainwarden'); "
              "print(program if program.exists() else '')")
    lines = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True, cwd="/").stdout.split("\n")
    core, buckets, program = (pathlib.Path(line) if line else None for line in lines[:3])
    return {"core": core, "buckets": buckets, "program": program}


def _distributions(python):
    """Names and versions of what is installed in an environment."""
    script = ("import importlib.metadata as m; "
              "print('\\n'.join(sorted(f\"{d.metadata['Name']} {d.version}\" for d in m.distributions())))")
    return subprocess.run([python, "-c", script], capture_output=True, text=True, check=True, cwd="/").stdout.split("\n")
