#!/usr/bin/env python3
"""Many jobs on this machine while their agents, the keeper of the queue, the page's server and their programs are killed:
each ends exactly once, with the state that its own program's journal proves; what may go on goes on from its checkpoint.

usage: many_jobs.py --trainwarden PROGRAM [--jobs N] [--kills N] [--seconds S] [--cpus N] [--seed N] [--python PYTHON]

A job makes five steps of S/5 seconds. It writes each into its journal, and then into its checkpoint. With --python, one that
has PyTorch and our package, every third job is a PyTorch program that saves and loads with torch.save and torch.load; its
run must have each step once, with the losses of a training that was left alone, bit for bit.

Who is killed is drawn: an agent (the job goes on by itself: it has retries), the keeper, the server, or a program (the job
has failed, and is resumed).

Prints the figures. Ends with code 1 and a line for each job that is not as its journal says.
"""
import argparse
import collections
import json
import os
import random
import signal
import subprocess
import sys
import time

from job_trials import PROGRAMS, STEPS, JobFolder, TorchTrial, leftovers, processes_with, wrong_of_journal

VICTIMS = {"agent": b"agent", "keeper": b"keeper", "program": b"train.py", "torch": b"torch_train.py", "server": b"serve"}


class Server:
    """The page's server over all runs, started again whenever it is gone."""

    def __init__(self, jobs):
        self.jobs, self.process = jobs, None
        (jobs.folder / "runs").mkdir()

    def keep(self):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [self.jobs.program, "serve", self.jobs.folder / "runs", "--port", "0"], cwd=self.jobs.folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close(self):
        self.process.kill()
        self.process.wait(60)


class Killer:
    """Kills one process at a time, of a kind that is drawn."""

    def __init__(self, jobs, chance):
        self.jobs, self.chance, self.killed = jobs, chance, collections.Counter()

    def kill(self):
        kind, word = self.chance.choice(list(VICTIMS.items()))
        found = processes_with(self.jobs.folder, word)
        if not found:
            return
        try:
            os.kill(self.chance.choice(sorted(found)), signal.SIGKILL)
            self.killed[kind] += 1
        except ProcessLookupError:
            pass


def resume_what_failed(jobs, listed):
    for name, job in listed.items():
        if job["secondary_status"] == "Failed":
            jobs.run("job", "resume", name)


def wrong_of(jobs, torch, name, job):
    if job["secondary_status"] != "Completed":
        return f"is {job['secondary_status']}: {job['message']}"
    return wrong_of_journal(jobs.journal(name)) or (torch.wrong_of_run(name) if torch.has(name) else None)


def start_delay(jobs, name, submitted):
    first = jobs.journal(name)[0].split()
    return float(first[2]) - submitted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trainwarden", required=True)
    parser.add_argument("--seconds", type=float, default=1.0)
    for name, default in (("jobs", 100), ("kills", 30), ("cpus", 2), ("seed", 1)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--python", help="one with PyTorch and trainwarden: every third job is a program of it")
    arguments = parser.parse_args()
    with JobFolder(os.path.abspath(arguments.trainwarden)) as jobs:
        return prove(arguments, jobs)


def job_of(arguments, jobs, torch, name):
    start = torch.start() if torch.has(name) else [sys.executable, "-S", PROGRAMS / "train.py"]
    words = [*start, jobs.journal_file(name), arguments.seconds / STEPS, STEPS]
    return {"program": [str(word) for word in words], "cpus": 1, "gpus": 0, "hook": torch.hook(name), "retries": 30}


def submit_all(arguments, jobs, torch):
    spec = jobs.folder / "job.json"
    submitted = {}
    for number in range(arguments.jobs):
        name = f"job-{number}"
        spec.write_text(json.dumps(job_of(arguments, jobs, torch, name)), encoding="ascii")
        submitted[name] = time.time()
        answer = jobs.run("submit", str(spec), "--name", name)
        if answer.returncode != 0:
            print(f"{name}: not submitted: {answer.stderr.strip()}")
    return submitted


def prove(arguments, jobs):
    chance = random.Random(arguments.seed)
    killer = Killer(jobs, chance)
    server = Server(jobs)
    torch = TorchTrial(jobs, arguments.python)
    if arguments.python:
        torch.train_alone()
    jobs.run("job", "queue", "--cpus", str(arguments.cpus))
    begin = time.monotonic()
    submitted = submit_all(arguments, jobs, torch)
    all_submitted = time.monotonic() - begin
    limit = begin + 120 + 4 * arguments.jobs * (arguments.seconds + (5 if arguments.python else 1)) / arguments.cpus
    listed = {}
    while time.monotonic() < limit:
        time.sleep(chance.uniform(0.05, 0.3))
        server.keep()
        if killer.killed.total() < arguments.kills:
            killer.kill()
        if chance.random() < 0.2 or killer.killed.total() >= arguments.kills:
            listed = jobs.listed()
            resume_what_failed(jobs, listed)
            if len(listed) == arguments.jobs and all(job["secondary_status"] == "Completed" for job in listed.values()):
                break
    took = time.monotonic() - begin
    server.close()
    wrong = [f"{name}: lost" for name in submitted if name not in listed]
    wrong += [f"{name}: {problem}" for name, job in listed.items() if (problem := wrong_of(jobs, torch, name, job))]
    wrong += [f"process {process} is left" for process in leftovers(jobs.folder)]
    print(json.dumps({
        "jobs": arguments.jobs, "killed": dict(killer.killed), "submitted_after_s": round(all_submitted, 1),
        "ended_after_s": round(took, 1), "first_start_ms": round(1000 * start_delay(jobs, "job-0", submitted["job-0"])),
        "attempts": sum(line.startswith("attempt") for name in submitted for line in jobs.journal(name)),
        "wrong": len(wrong)}))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
