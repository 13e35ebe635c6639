"""What tests of studies share whose trials are jobs: a folder with a study and the journals of its trials."""
import json
import subprocess
import sys

from job_trials import PROGRAMS, JobFolder, end_processes_of

STUDY = """name = "toy"
job = "job.json"
sampler = "sobol"
parallel = {parallel}
{more}
[parameters]
quality = {{min = 0.0, max = 1.0}}
[metrics]
loss = {{goal = "minimize"}}
[budget]
trials = {trials}
"""


class StudyFolder(JobFolder):
    """With a study "toy" of `trials` trials, and its job."""

    def write(self, trials, parallel, more="", seconds=0.1, steps=9, at_once=1, **job):
        words = [sys.executable, "-S", PROGRAMS / "trial.py", self.folder, seconds, steps, at_once]
        self.steps = steps
        (self.folder / "job.json").write_text(json.dumps(
            {"program": [str(word) for word in words], "hook": False, "cpus": 1, "memory": "20 MB",
             "metric": [{"name": "loss", "regex": r"step (?<step>\d+) loss: (\S+)"}], **job}), encoding="ascii")
        (self.folder / "study.toml").write_text(STUDY.format(trials=trials, parallel=parallel, more=more), encoding="ascii")

    def start(self, *words):
        return subprocess.Popen([self.program, *words], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True)

    def shown(self):
        answer = self.run("study", "show", "toy", "--json")
        return json.loads(answer.stdout) if answer.returncode == 0 else None

    def log(self):
        """The events of the study."""
        return [event for file in sorted((self.folder / "studies/toy/log").glob("0*.json"))
                for event in json.loads(file.read_text())["events"]]

    def begins(self, trial):
        """From which step each attempt of the trial's job went on, by its own journal."""
        return [int(line.split()[1]) for line in self.journal(f"toy-{trial}") if line.startswith("from")]

    def steps_of(self, trial):
        return [int(line.split()[1]) for line in self.journal(f"toy-{trial}") if line.startswith("step")]

    def end_keepers(self):
        """Keepers of the queue live on for a while; none may be left behind."""
        end_processes_of(self.folder / "jobs")


def wrong_of_trial(study, trial):
    """What is wrong with a trial that has ended, by the journal of its job: each step once, but for one of each attempt that was
    killed before its checkpoint; and no attempt but the first began anew."""
    number, begins, steps = trial["number"], study.begins(trial["number"]), study.steps_of(trial["number"])
    if trial["state"] == "complete" and (not steps or max(steps) != study.steps):
        return f"trial {number} is complete, and made the steps {steps}"
    if begins and begins[0] != 0:
        return f"trial {number} began from {begins}: another one's checkpoint"
    if len(steps) - len(set(steps)) > len(begins) - 1:
        return f"trial {number} made steps again: {steps}, from {begins}"
    if any(later < earlier for earlier, later in zip(begins, begins[1:])):
        return f"trial {number} lost what it had: it began from {begins}"
    return None


def wrong_of_study(study, shown):
    wrong = [problem for trial in shown["trials"] if (problem := wrong_of_trial(study, trial))]
    if shown["damaged"]:
        wrong.append(f"{shown['damaged']} entries of the log are damaged")
    return wrong
