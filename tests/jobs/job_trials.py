"""What trials with many jobs share: a folder of jobs, and a look at their processes."""
import json
import pathlib
import shutil
import subprocess
import tempfile


class JobFolder:
    """A folder of its own, in which jobs are submitted, and that is gone at the end."""

    def __init__(self, program):
        self.program = program
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="trainwarden-test-"))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words):
        return subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, check=False)

    def listed(self):
        answer = self.run("job", "ls", "--json")
        return {job["name"]: job for job in json.loads(answer.stdout)["jobs"]} if answer.returncode == 0 else {}

    def journal_file(self, name):
        return self.folder / f"{name}.journal"

    def journal(self, name):
        file = self.journal_file(name)
        return file.read_text().splitlines() if file.exists() else []


def _processes():
    return [entry for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def processes_with(folder, word):
    """Those that have this word in their command line, and the folder; children of a launcher that has both count too."""
    found = []
    for entry in _processes():
        words = _read(entry / "cmdline").split(b"\0")
        if str(folder).encode() in b"\0".join(words) and any(each.split(b"/")[-1] == word for each in words):
            found.append(int(entry.name))
    return found


def leftovers(folder):
    mark = f"TRAINWARDEN_JOB_DIR={folder}/".encode()
    return [int(entry.name) for entry in _processes() if mark in _read(entry / "environ")]
