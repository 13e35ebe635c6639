"""Trials as jobs of this machine: paused and promoted from checkpoints, killed in the middle, side by side.

    python3 tests/cli/trial_jobs_test.py TRAINWARDEN [--seed 1]

What a trial did is in the journal that its own program writes (tests/jobs/programs/trial.py). Ends with code 1 and a line for
each thing that is not as it says.
"""

import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "jobs"))

from job_trials import processes_with  # noqa: E402
from study_trial import StudyFolder, wrong_of_study  # noqa: E402

HALVING = "pruner = \"asha:min_resource=2,reduction_factor=3,check_fidelity=false,pause=true\""


def run_killed(study, kills, draw):
    """Runs the study to its end, and kills its process so often on the way."""
    words = ("tune", "study.toml")
    for left in range(kills, -1, -1):
        process = study.start(*words)
        try:
            _, errors = process.communicate(timeout=draw.uniform(0.3, 1.5) if left else 300)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            if (study.folder / "studies/toy/study.json").exists():
                words = ("study", "resume", "toy")
            continue
        if process.returncode != 0:
            raise SystemExit(f"{words}: exit code {process.returncode}: {errors}")
        return errors
    raise SystemExit("unreachable")


def check_paused(study, draw):
    """Nine trials of twelve steps, of which a third passes each rung: the best one is complete, the others were paused."""
    study.write(trials=9, parallel=2, more=HALVING, seconds=0.2, steps=12, preemptible=True)
    run_killed(study, 3, draw)
    shown = study.shown()
    wrong = wrong_of_study(study, shown)
    best = min(shown["trials"], key=lambda trial: trial["values"]["quality"])
    if best["state"] != "complete":
        wrong.append(f"the best trial is {best['state']}: {best['why']}")
    if shown["counts"]["complete"] + shown["counts"]["pruned"] != 9 or shown["counts"]["pruned"] < 4:
        wrong.append(f"expected trials that are complete or pruned, found {shown['counts']}")
    wrong += [f"trial {trial['number']} does not say that it was paused: {trial['why']}" for trial in shown["trials"]
              if trial["state"] == "pruned" and "it was paused, and" not in trial["why"]]
    went_on = [trial["number"] for trial in shown["trials"] if len(study.begins(trial["number"])) > 1]
    if not any(study.begins(number)[-1] > 0 for number in went_on):
        wrong.append("no trial went on from a checkpoint")
    made = sum(len(study.steps_of(number)) for number in range(9))
    if made >= 108:
        wrong.append(f"{made} of 108 steps were made: nothing was saved")
    print(f"paused: {shown['counts']}; {made} of 108 steps made; trials {went_on} went on from checkpoints")
    return wrong


def agents_of(study):
    return processes_with(study.folder, b"agent")


def check_killed(study, draw):
    """Agents are killed with SIGKILL, and with each its program: the trials go on as their jobs do, and none fails."""
    study.write(trials=4, parallel=2, retries=9)
    process, killed = study.start("tune", "study.toml"), 0
    while process.poll() is None:
        agents = agents_of(study)
        if killed < 4 and agents:
            try:
                os.kill(draw.choice(agents), signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
        time.sleep(draw.uniform(0.3, 0.7))
    errors = process.communicate()[1]
    shown = study.shown()
    wrong = wrong_of_study(study, shown)
    if process.returncode != 0 or shown["counts"]["complete"] != 4:
        wrong.append(f"expected 4 complete trials, found {shown['counts']}: {errors}")
    attempts = sum(len(study.begins(number)) for number in range(4))
    if attempts <= 4:
        wrong.append(f"no job went on as another attempt, though {killed} agents were killed")
    wrong += [f"trial {trial['number']} was started {trial['attempts']} times by the study" for trial in shown["trials"]
              if trial["attempts"] != 1]
    print(f"killed: {killed} agents; {attempts} attempts of 4 trials; {shown['counts']}")
    return wrong


def check_killed_at_the_end(study, _draw):
    """The agent is killed when the last step is saved and printed, and before what was printed is kept: the next attempt has no
    step left to make, and the trial has its loss."""
    study.write(trials=1, parallel=1, retries=9, seconds=0.02)
    process = study.start("tune", "study.toml")
    output = study.folder / "jobs/toy-0/output.log"
    while process.poll() is None and not (output.exists() and f"step {study.steps} loss: " in output.read_text()):
        time.sleep(0.005)
    for agent in agents_of(study):
        os.kill(agent, signal.SIGKILL)
    errors = process.communicate(timeout=300)[1]
    (trial,) = study.shown()["trials"]
    print(f"killed at the end: it began from {study.begins(0)}, and is {trial['state']}")
    expected = trial["values"]["quality"] + 1 / (100 * study.steps)
    if trial["state"] != "complete" or abs(trial["metrics"]["loss"] - expected) > 1e-6:
        return [f"expected a loss of {expected}, found {trial}: {errors}"]
    return wrong_of_study(study, study.shown())


def check_devices(study, _draw):
    """Two trials that run at once, and say that they need one processor each, have different ones."""
    if len(os.sched_getaffinity(0)) < 2:
        print("devices: skipped: this machine has one processor")
        return []
    study.write(trials=2, parallel=2, at_once=2, steps=3)
    run_killed(study, 0, random.Random(0))
    cpus = [line for number in range(2) for line in study.journal(f"toy-{number}") if line.startswith("cpus")]
    print(f"devices: {cpus}")
    if len(set(cpus)) != 2 or any(len(line.split()) != 2 for line in cpus):
        return [f"expected a processor for each of two trials at once, found {cpus}"]
    return wrong_of_study(study, study.shown())


def check_refused(study, _draw):
    """What cannot be paused is said before anything starts."""
    study.write(trials=2, parallel=1, more=HALVING)
    answer = study.run("tune", "study.toml")
    if answer.returncode != 2 or "preemptible = true" not in answer.stderr:
        return [f"expected a job without checkpoints to be refused, found {answer.returncode}: {answer.stderr}"]
    study.write(trials=2, parallel=1, checkpoints={"path": "kept"})
    answer = study.run("tune", "study.toml")
    if answer.returncode != 2 or "TRAINWARDEN_CHECKPOINT_DIR" not in answer.stderr:
        return [f"expected a folder of checkpoints for all trials to be refused, found {answer.returncode}: {answer.stderr}"]
    return ["something was started"] if (study.folder / "studies").exists() else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong = []
    for check in (check_refused, check_devices, check_paused, check_killed, check_killed_at_the_end):
        with StudyFolder(os.path.abspath(options.program)) as study:
            try:
                wrong += [f"{check.__name__}: {problem}" for problem in check(study, random.Random(options.seed))]
            finally:
                study.end_keepers()
    for problem in wrong:
        print(problem)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
