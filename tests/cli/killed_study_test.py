"""A study whose process is killed again and again: no trial is lost, none runs twice, the same values are tried.

    python3 tests/cli/killed_study_test.py TRAINWARDEN [--kills 300] [--seed 1]

The same study is run once to its end and once killed with SIGKILL at random moments; `study resume` goes on each time. Trials run one
after the other, so that results come in the same order. The program of a trial writes a line into a file when it begins, by which is
seen how often it ran.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "jobs"))

from job_trials import end_processes_of  # noqa: E402

TRAIN = """echo "$TRAINWARDEN_JOB" "$@" >> begun.txt
echo "loss: $(echo "$2 $4" | awk '{print ($1 - 0.3) ^ 2 + ($2 - 7) ^ 2 / 100}')"
"""
JOB = """program = ["sh", "train.sh"]
hook = false
[[metric]]
name = "loss"
regex = 'loss: (\\S+)'
"""
STUDY = """name = "killed"
job = "job.toml"
sampler = "tpe"
seed = 5
[parameters]
a = {min = 0.0, max = 1.0}
b = {min = 1, max = 10}
[metrics]
loss = {goal = "minimize"}
[budget]
trials = %d
"""


class StudyFolder:
    """A folder with the study's files, in which the program is run."""

    def __init__(self, program: str, folder: Path, trials: int) -> None:
        self.program, self.folder = program, folder
        folder.mkdir()
        (folder / "train.sh").write_text(TRAIN)
        (folder / "job.toml").write_text(JOB)
        (folder / "study.toml").write_text(STUDY % trials)

    def start(self, *words: str) -> subprocess.Popen:
        return subprocess.Popen([self.program, *words], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def shown(self) -> dict:
        done = subprocess.run([self.program, "study", "show", "killed", "--json"], cwd=self.folder, capture_output=True)
        if done.returncode != 0:
            raise SystemExit(f"study show: exit code {done.returncode}: {done.stderr.decode()}")
        return json.loads(done.stdout)

    def begun(self) -> list[str]:
        return (self.folder / "begun.txt").read_text().splitlines()

    def end_jobs(self) -> None:
        """Keepers of the queue live on for a while; none may be left behind."""
        end_processes_of(self.folder / "jobs")


def run_whole(study: StudyFolder) -> None:
    process = study.start("tune", "study.toml")
    _, errors = process.communicate(timeout=600)
    if process.returncode != 0:
        raise SystemExit(f"tune: exit code {process.returncode}: {errors.decode()}")


def run_killed(study: StudyFolder, kills: int, draw: random.Random) -> int:
    """How often it was killed before it was done; after so many kills it may end."""
    words, killed = ("tune", "study.toml"), 0
    while True:
        process = study.start(*words)
        try:
            _, errors = process.communicate(timeout=draw.uniform(0.01, 0.6) if killed < kills else 600)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            killed += 1
            if (study.folder / "studies/killed/study.json").exists():
                words = ("study", "resume", "killed")
            continue
        if process.returncode == 0:
            return killed
        raise SystemExit(f"{words}: exit code {process.returncode}: {errors.decode()}")


def check(calm: StudyFolder, harried: StudyFolder) -> None:
    one, other = calm.shown(), harried.shown()
    for key in ("complete", "failed", "pruned", "running", "waiting"):
        if one["counts"][key] != other["counts"][key]:
            raise SystemExit(f"expected {one['counts']}, found {other['counts']}")
    for trial, again in zip(one["trials"], other["trials"], strict=True):
        for key in ("values", "metrics", "attempts", "job"):
            if trial[key] != again[key]:
                raise SystemExit(f"trial {trial['number']}: expected {key} {trial[key]}, found {again[key]}")
    lines = [line.split(maxsplit=1)[0] for line in harried.begun()]
    twice = sorted({job for job in lines if lines.count(job) > 1})
    if twice or len(lines) != len(other["trials"]):
        raise SystemExit(f"expected each trial to run once, found {len(lines)} runs of {len(other['trials'])} trials; twice: {twice}")
    if other["damaged"]:
        raise SystemExit(f"{other['damaged']} entries are damaged")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--trials", type=int, default=0, help="of the study (default: so many that it is killed so often)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    trials = options.trials or max(10, 3 * options.kills // 2)
    with tempfile.TemporaryDirectory() as name:
        studies = [StudyFolder(options.program, Path(name) / each, trials) for each in ("calm", "harried")]
        try:
            run_whole(studies[0])
            started = time.monotonic()
            killed = run_killed(studies[1], options.kills, random.Random(options.seed))
            check(*studies)
        finally:
            for study in studies:
                study.end_jobs()
    print(f"{trials} trials, killed {killed} times in {time.monotonic() - started:.0f} s: the same trials, each run once")


if __name__ == "__main__":
    sys.exit(main())
