#!/usr/bin/env python3
"""Trials of studies as jobs on Slurm's real daemons: eight at once, more than there is room for, killed and paused ones, and a
study that is stopped.

usage: study_test.py --trainwarden PROGRAM

Prints the figures. Ends with code 1 and a line for each thing that is not as it should be, 77 where there is no Slurm.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(TESTS / "jobs"))  # behind this folder, whose many_jobs.py is meant

from job_trials import leftovers, processes_with  # noqa: E402
from many_jobs import DAEMONS, Cluster  # noqa: E402
from study_trial import StudyFolder, wrong_of_study  # noqa: E402

HALVING = "pruner = \"asha:min_resource=1,reduction_factor=2,check_fidelity=false,pause=true\""


def in_slurm():
    answer = subprocess.run(["squeue", "--noheader", "--Format=Name:30,State:20"], check=False, capture_output=True, text=True)
    return [line.split() for line in answer.stdout.splitlines()]


def run(study):
    """To its end, or what is wrong with that."""
    process = study.start("tune", "study.toml")
    _, errors = process.communicate(timeout=300)
    return [] if process.returncode == 0 else [f"tune ended with {process.returncode}: {errors}"]


def starts_ms(study):
    """From each trial that was started to the next one, of those that were started one after the other."""
    starts = [event["at"] for event in study.log() if event["kind"] == "started"]
    return [(later - earlier) / 1e6 for earlier, later in zip(starts, starts[1:])]


def check_at_once(study):
    """Eight trials run at once: none begins before all are there."""
    study.write(trials=8, parallel=8, at_once=8, steps=3, backend="slurm")
    wrong = run(study)
    shown = study.shown()
    took = sorted(starts_ms(study))
    print(f"at once: {shown['counts']}; a submission took {took[len(took) // 2]:.0f} ms, {took[-1]:.0f} ms at most")
    if shown["counts"]["complete"] != 8:
        wrong.append(f"expected 8 complete trials, found {shown['counts']}")
    return wrong + wrong_of_study(study, shown)


def check_queued(study):
    """Fourteen at once where there is room for eight: who waits in Slurm's queue runs later, and is not lost."""
    study.write(trials=14, parallel=14, steps=5, backend="slurm")
    process, most_waiting = study.start("tune", "study.toml"), 0
    while process.poll() is None:
        most_waiting = max(most_waiting, sum(state == "PENDING" for _, state in in_slurm()))
        time.sleep(0.2)
    errors, shown = process.communicate()[1], study.shown()
    print(f"queued: {shown['counts']}; up to {most_waiting} waited in Slurm's queue")
    wrong = wrong_of_study(study, shown)
    if shown["counts"]["complete"] != 14:
        wrong.append(f"expected 14 complete trials, found {shown['counts']}: {errors}")
    if most_waiting == 0:
        wrong.append("no job waited in Slurm's queue")
    return wrong + [f"trial {trial['number']} was started {trial['attempts']} times" for trial in shown["trials"]
                    if trial["attempts"] != 1]


def check_killed(study):
    """Agents are killed: the tuner is who looks, so that the jobs go back into the queue and on from their checkpoints."""
    study.write(trials=4, parallel=4, seconds=0.4, backend="slurm", retries=5)
    process, killed, draw = study.start("tune", "study.toml"), 0, random.Random(1)
    while process.poll() is None:
        agents = processes_with(study.folder, b"slurm-agent")
        if killed < 3 and agents and any(study.steps_of(number) for number in range(4)):
            try:
                os.kill(draw.choice(agents), signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
        time.sleep(0.5)
    errors, shown = process.communicate()[1], study.shown()
    attempts = sum(len(study.begins(number)) for number in range(4))
    print(f"killed: {killed} agents; {attempts} attempts of 4 trials; {shown['counts']}")
    wrong = wrong_of_study(study, shown)
    if shown["counts"]["complete"] != 4:
        wrong.append(f"expected 4 complete trials, found {shown['counts']}: {errors}")
    if killed and attempts <= 4:
        wrong.append("no job went on as another attempt")
    return wrong


def check_paused(study):
    """The best half of each rung goes on; the others are stopped, and some of these submitted again."""
    study.write(trials=6, parallel=3, more=HALVING, seconds=0.8, steps=8, backend="slurm", preemptible=True)
    wrong = run(study)
    shown = study.shown()
    went_on = [trial["number"] for trial in shown["trials"] if len(study.begins(trial["number"])) > 1]
    print(f"paused: {shown['counts']}; trials {went_on} went on from checkpoints")
    best = min(shown["trials"], key=lambda trial: trial["values"]["quality"])
    if best["state"] != "complete":
        wrong.append(f"the best trial is {best['state']}: {best['why']}")
    if not went_on:
        wrong.append("no trial went on from a checkpoint")
    return wrong + wrong_of_study(study, shown)


def check_stopped(study):
    """`study stop` ends what runs and what waits."""
    study.write(trials=12, parallel=12, seconds=60, backend="slurm")
    process = study.start("tune", "study.toml")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        states = [state for _, state in in_slurm()]
        if len(states) >= 12 and "RUNNING" in states:
            break
        time.sleep(0.2)
    answer = study.run("study", "stop", "toy")
    process.wait(120)
    end = time.monotonic() + 60
    while (left := [name for name, state in in_slurm() if state not in ("CANCELLED", "COMPLETED", "FAILED")]) and \
            time.monotonic() < end:
        time.sleep(0.5)
    shown = study.shown()
    print(f"stopped: {shown['counts']}; {len(left)} left in Slurm")
    wrong = [f"left in Slurm: {left}"] if left else []
    if answer.returncode != 0 or shown["counts"]["failed"] != 12:
        wrong.append(f"expected 12 failed trials, found {shown['counts']}: {answer.stderr}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trainwarden", required=True)
    parser.add_argument("--only", default="", help="the name of one check")
    arguments = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [daemon for daemon in DAEMONS if not shutil.which(daemon)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed; ./dev test installs slurm-wlm and munge where it may")
        return 77
    program, wrong = os.path.abspath(arguments.trainwarden), []
    with StudyFolder(program) as place:
        (place.folder / "cluster").mkdir()
        cluster = Cluster(place.folder / "cluster", nodes=2, cpus=4)
        try:
            for check in (check_at_once, check_queued, check_killed, check_paused, check_stopped):
                if arguments.only not in check.__name__:
                    continue
                with StudyFolder(program) as study:
                    wrong += [f"{check.__name__}: {problem}" for problem in check(study)]
                    wrong += [f"{check.__name__}: process {process} is left" for process in leftovers(study.folder)]
        finally:
            cluster.close()
    for problem in wrong:
        print(problem)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
