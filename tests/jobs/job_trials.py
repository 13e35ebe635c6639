"""What trials with many jobs share: a folder of jobs, their programs, what these prove, and a look at their processes."""
import contextlib
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
STEPS = 5
# Each loss, whatever it costs: within the usual budget a training of short steps on a busy machine leaves some out.
HOOK = {"include_collections": ["losses"], "save": {"save_interval": 1}, "budget": 0}


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


def wrong_of_journal(lines):
    """What is wrong with a job that is Completed, by the journal that its program has written itself."""
    attempts = [int(line.split()[1]) for line in lines if line.startswith("attempt")]
    steps = [int(line.split()[1]) for line in lines if line.startswith("step")]
    # What is killed between a program's last word and its exit makes it come to its end once more.
    if not lines or lines[-1] != "end" or any(line.startswith("step") for line in lines[lines.index("end"):]):
        return f"is Completed, and its journal says {lines}"
    if attempts != sorted(set(attempts)):
        return f"an attempt ran twice: {attempts}"
    if sorted(set(steps)) != list(range(STEPS)):
        return f"steps are missing: {steps}"
    if len(steps) > STEPS + len(attempts) - 1:
        return f"more steps were made again than attempts: {steps}, {attempts}"
    return None


class TorchTrial:
    """Every third job is a PyTorch program, when there is a `python` for it: its run must be that of a training that was left
    alone, with the same losses, bit for bit."""

    EVERY = 3

    def __init__(self, jobs, python):
        self.jobs, self.python = jobs, python
        (jobs.folder / "hook.json").write_text(json.dumps(HOOK), encoding="ascii")

    def has(self, name):
        return self.python is not None and int(name.split("-")[1]) % self.EVERY == 0

    def hook(self, name):
        return "hook.json" if self.has(name) else False

    def start(self):
        return [self.python, PROGRAMS / "torch_train.py"]

    def train_alone(self):
        checkpoints = self.jobs.folder / "checkpoints-alone"
        checkpoints.mkdir()
        os.environ.update(TRAINWARDEN_CHECKPOINT_DIR=str(checkpoints), TRAINWARDEN_JOB_ATTEMPT="1")
        answer = self.jobs.run("run", "--runs", ".", "--name", "alone", "--config", "hook.json", "--",
                               *map(str, self.start()), str(self.jobs.folder / "alone.journal"), "0", str(STEPS))
        del os.environ["TRAINWARDEN_CHECKPOINT_DIR"], os.environ["TRAINWARDEN_JOB_ATTEMPT"]
        assert answer.returncode == 0, answer.stderr
        assert len(self.losses(self.jobs.folder / "alone")) == 4 * STEPS

    def losses(self, run):
        """Step, mode, step of the mode and loss of each row, as text: the same text is the same number, bit for bit."""
        table = self.jobs.folder / "losses.csv"
        answer = self.jobs.run("export", str(run), str(table), "--to", "csv", "--collection", "losses", "--force")
        if answer.returncode != 0:
            return answer.stderr
        with table.open(newline="", encoding="ascii") as file:
            return [(row["step"], row["mode"], row["mode_step"], row["value"]) for row in csv.DictReader(file)
                    if row["quantity"] == "value"]

    def wrong_of_run(self, name):
        found, expected = self.losses(self.jobs.folder / "runs" / name), self.losses(self.jobs.folder / "alone")
        return None if found == expected else f"its run has other steps than a training that was left alone: {found}"


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


def processes_of(folder):
    """Those that have the folder among their arguments."""
    return [int(entry.name) for entry in _processes() if str(folder).encode() in _read(entry / "cmdline").split(b"\0")]


def end_processes_of(folder):
    """Asks them to end, and waits until they have."""
    for process in processes_of(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
    until = time.monotonic() + 60
    while processes_of(folder) and time.monotonic() < until:
        time.sleep(0.01)


def leftovers(folder):
    mark = f"TRAINWARDEN_JOB_DIR={folder}/".encode()
    return [int(entry.name) for entry in _processes() if mark in _read(entry / "environ")]
