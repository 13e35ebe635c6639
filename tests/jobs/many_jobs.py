#!/usr/bin/env python3
"""Many jobs on this machine while their agents, the keeper of the queue and their programs are killed: each ends exactly
once, with the state that its own program's journal proves; what may go on goes on from its checkpoint.

usage: many_jobs.py --trainwarden PROGRAM [--jobs N] [--kills N] [--seconds S] [--cpus N] [--seed N]

A job makes five steps of S/5 seconds. It writes each into its journal, and then into its checkpoint. Who is killed is drawn:
an agent (the job goes on by itself: it has retries), the keeper, or a program (the job has failed, and is resumed).

Prints the figures. Ends with code 1 and a line for each job that is not as its journal says.
"""
import argparse
import collections
import json
import os
import random
import signal
import sys
import time

from job_trials import JobFolder, leftovers, processes_with

STEPS = 5
# What a training does: each line is on the disk before the next step begins.
PROGRAM = """
import os, sys, time
journal = open(sys.argv[1], "a")
def write(word):
    journal.write(word + "\\n")
    journal.flush()
    os.fsync(journal.fileno())
path = os.path.join(os.environ["TRAINWARDEN_CHECKPOINT_DIR"], "step")
first = int(open(path).read()) if os.path.exists(path) else 0
write("attempt " + os.environ["TRAINWARDEN_JOB_ATTEMPT"] + " " + str(time.time()))
for step in range(first, %d):
    time.sleep(float(sys.argv[2]))
    write("step " + str(step))
    with open(path + ".new", "w") as file:
        file.write(str(step + 1))
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)
write("end")
""" % STEPS


class Killer:
    """Kills one process at a time, of a kind that is drawn."""

    def __init__(self, jobs, chance):
        self.jobs, self.chance, self.killed = jobs, chance, collections.Counter()

    def kill(self):
        kind, words = self.chance.choice([("agent", b"agent"), ("keeper", b"keeper"), ("program", b"train.py")])
        found = processes_with(self.jobs.folder, words)
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


def wrong_of(jobs, name, job):
    """What is wrong with a job, by the journal that its program has written itself."""
    lines = jobs.journal(name)
    attempts = [int(line.split()[1]) for line in lines if line.startswith("attempt")]
    steps = [int(line.split()[1]) for line in lines if line.startswith("step")]
    if job["secondary_status"] != "Completed":
        return f"is {job['secondary_status']}: {job['message']}"
    # What is killed between a program's last word and its exit makes it come to its end once more.
    if lines[-1] != "end" or any(line.startswith("step") for line in lines[lines.index("end"):]):
        return f"is Completed, and its journal says {lines}"
    if attempts != sorted(set(attempts)):
        return f"an attempt ran twice: {attempts}"
    if sorted(set(steps)) != list(range(STEPS)):
        return f"steps are missing: {steps}"
    if len(steps) > STEPS + len(attempts) - 1:
        return f"more steps were made again than attempts: {steps}, {attempts}"
    return None


def start_delay(jobs, name, submitted):
    first = jobs.journal(name)[0].split()
    return float(first[2]) - submitted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trainwarden", required=True)
    parser.add_argument("--seconds", type=float, default=1.0)
    for name, default in (("jobs", 100), ("kills", 30), ("cpus", 2), ("seed", 1)):
        parser.add_argument("--" + name, type=int, default=default)
    arguments = parser.parse_args()
    with JobFolder(os.path.abspath(arguments.trainwarden)) as jobs:
        return prove(arguments, jobs)


def submit_all(arguments, jobs):
    (jobs.folder / "train.py").write_text(PROGRAM, encoding="ascii")
    spec = jobs.folder / "job.json"
    submitted = {}
    for number in range(arguments.jobs):
        name = f"job-{number}"
        spec.write_text(json.dumps({
            "program": [sys.executable, "-S", str(jobs.folder / "train.py"), str(jobs.journal_file(name)),
                        str(arguments.seconds / STEPS)],
            "cpus": 1, "gpus": 0, "hook": False, "retries": 30}), encoding="ascii")
        submitted[name] = time.time()
        answer = jobs.run("submit", str(spec), "--name", name)
        if answer.returncode != 0:
            print(f"{name}: not submitted: {answer.stderr.strip()}")
    return submitted


def prove(arguments, jobs):
    chance = random.Random(arguments.seed)
    killer = Killer(jobs, chance)
    jobs.run("job", "queue", "--cpus", str(arguments.cpus))
    begin = time.monotonic()
    submitted = submit_all(arguments, jobs)
    all_submitted = time.monotonic() - begin
    limit = begin + 120 + 4 * arguments.jobs * (arguments.seconds + 1) / arguments.cpus
    listed = {}
    while time.monotonic() < limit:
        time.sleep(chance.uniform(0.05, 0.3))
        if killer.killed.total() < arguments.kills:
            killer.kill()
        if chance.random() < 0.2 or killer.killed.total() >= arguments.kills:
            listed = jobs.listed()
            resume_what_failed(jobs, listed)
            if len(listed) == arguments.jobs and all(job["secondary_status"] == "Completed" for job in listed.values()):
                break
    took = time.monotonic() - begin
    wrong = [f"{name}: lost" for name in submitted if name not in listed]
    wrong += [f"{name}: {problem}" for name, job in listed.items() if (problem := wrong_of(jobs, name, job))]
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
