#!/usr/bin/env python3
"""Many jobs of a second on one node of Slurm, while their agents and the controller are killed: each job ends exactly once,
and goes on from its checkpoint after each loss, as its own program's journal proves.

usage: many_jobs.py --trainwarden PROGRAM [--jobs N] [--agent-kills N] [--controller-restarts N] [--controller-kills N]
                    [--seconds S] [--seed N] [--python PYTHON]

A job makes five steps of S/5 seconds. It writes each into its journal, and then into its checkpoint; it has 30 retries. With
--python, one that has PyTorch and our package, every third job is a PyTorch program, whose run must have each step once, with
the losses of a training that was left alone, bit for bit.

Jobs that were lost go on because somebody looks at them: this program, with `job ls`. It resumes those that Slurm has
forgotten, which only a controller does that was killed.

Prints the figures. Ends with code 1 and a line for each job that is not as its journal says, 77 where there is no Slurm.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "jobs"))

from job_trials import PROGRAMS, STEPS, JobFolder, TorchTrial, leftovers, processes_with, wrong_of_journal  # noqa: E402

DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch")
ENDED = {"Completed", "Failed", "Stopped", "MaxRuntimeExceeded", "MaxWaitTimeExceeded"}


class Cluster:
    def __init__(self, work, nodes=1, cpus=16, task="task/none"):
        self.process = subprocess.Popen(
            [sys.executable, TESTS / "servers/slurm_cluster.py", "--work", work, "--nodes", str(nodes), "--cpus", str(cpus),
             "--kill-wait", "2", "--task", task],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        word, conf = self.process.stdout.readline().split()
        assert word == "conf"
        os.environ["SLURM_CONF"] = conf

    def do(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n", command

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


class Killer:
    """Kills agents, and ends the controller, in threads of its own."""

    def __init__(self, arguments, cluster, folder):
        self.chance, self.stop, self.agents_killed = random.Random(arguments.seed), threading.Event(), 0
        self.cluster, self.folder, self.agent_kills = cluster, folder, arguments.agent_kills
        self.ends = ["stop"] * arguments.controller_restarts + ["kill"] * arguments.controller_kills
        self.chance.shuffle(self.ends)
        self.threads = [threading.Thread(target=self.kill_agents), threading.Thread(target=self.end_controller)]
        for thread in self.threads:
            thread.start()

    def kill_agents(self):
        while self.agents_killed < self.agent_kills and not self.stop.wait(self.chance.uniform(0.02, 0.2)):
            running = sorted(processes_with(self.folder, b"slurm-agent"))
            try:
                os.kill(self.chance.choice(running), signal.SIGKILL)
                self.agents_killed += 1
            except (IndexError, ProcessLookupError):
                continue

    def end_controller(self):
        while self.ends and not self.stop.wait(self.chance.uniform(1, 4)):
            self.cluster.do(f"{self.ends[-1]} controller")
            self.cluster.do("start controller")
            self.ends.pop()

    def is_done(self):
        return not self.ends

    def close(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()


def submit_all(arguments, jobs, torch):
    """Seconds that each took."""
    spec, took = jobs.folder / "job.json", []
    for number in range(arguments.jobs):
        name = f"job-{number}"
        start = torch.start() if torch.has(name) else [sys.executable, "-S", PROGRAMS / "train.py"]
        words = [*start, jobs.journal_file(name), arguments.seconds / STEPS, STEPS]
        spec.write_text(json.dumps({"program": [str(word) for word in words], "backend": "slurm", "memory": "20 MB",
                                    "hook": torch.hook(name), "retries": 30}), encoding="ascii")
        begin = time.monotonic()
        answer = jobs.run("submit", str(spec), "--name", name)
        took.append(time.monotonic() - begin)
        if answer.returncode != 0:
            print(f"{name}: {answer.stderr.strip()}")  # whether Slurm has it will show
    return took


def help_slurm():
    """What its administrator does: a controller that was killed takes a node out of service that knows more of its jobs than
    itself. And what Slurm itself has put back does not wait for two minutes."""
    subprocess.run(["scontrol", "update", "nodename=node1", "state=resume"], check=False, capture_output=True)
    waiting = subprocess.run(["squeue", "--noheader", "--states=PENDING",
                              "--Format=JobID:20,EligibleTime:30,Reason:30"],
                             check=False, capture_output=True, text=True)
    soon = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + 5))
    for line in waiting.stdout.splitlines():
        number, start, reason = line.split(maxsplit=2)
        if reason.strip() == "BeginTime" and start > soon:
            subprocess.run(["scontrol", "update", f"jobid={number}", "starttime=now+2"], check=False, capture_output=True)


def resume_what_is_forgotten(jobs, listed, resumed):
    for name, job in listed.items():
        if job["secondary_status"] == "Failed" or "`trainwarden job resume" in job["message"]:
            if jobs.run("job", "resume", name).returncode == 0:
                resumed[name, job["secondary_status"]] += 1


def wrong_of(jobs, torch, resumed, name, job):
    if job["secondary_status"] != "Completed":
        return f"is {job['secondary_status']}: {job['message']}"
    files = sorted((jobs.folder / "jobs" / name / "state").glob("*.json"))
    ways = [json.loads(file.read_text())["status"] for file in files]
    ends = [way for way in ways if way in ENDED]
    if len(ends) != 1 + resumed[name, "Failed"] or ways[-1] != "Completed":
        return f"has ended {len(ends)} times: {ways}"
    return wrong_of_journal(jobs.journal(name)) or (torch.wrong_of_run(name) if torch.has(name) else None)


def percentile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def watch(arguments, jobs, killer, resumed):
    """Until all are Completed; returns what is listed at the end."""
    end, listed = time.monotonic() + 180 + 3 * arguments.jobs, {}
    while time.monotonic() < end:
        listed = jobs.listed() or listed
        resume_what_is_forgotten(jobs, listed, resumed)
        done = len(listed) == arguments.jobs and all(job["secondary_status"] == "Completed" for job in listed.values())
        if done and killer.is_done():
            break
        help_slurm()
        time.sleep(0.5)
    return listed


def prove(arguments, cluster, jobs):
    torch, resumed = TorchTrial(jobs, arguments.python), collections.Counter()
    if arguments.python:
        torch.train_alone()
    killer = Killer(arguments, cluster, jobs.folder)
    begin = time.monotonic()
    took = submit_all(arguments, jobs, torch)
    submitted = time.monotonic() - begin
    listed = watch(arguments, jobs, killer, resumed)
    ended = time.monotonic() - begin
    killer.close()
    names = [f"job-{number}" for number in range(arguments.jobs)]
    wrong = [f"{name}: lost" for name in names if name not in listed]
    wrong += [f"{name}: {problem}" for name, job in listed.items()
              if (problem := wrong_of(jobs, torch, resumed, name, job))]
    wrong += [f"process {process} is left" for process in leftovers(jobs.folder)]
    print(json.dumps({
        "jobs": arguments.jobs, "agents_killed": killer.agents_killed,
        "controller_restarted": arguments.controller_restarts, "controller_killed": arguments.controller_kills,
        "attempts": sum(line.startswith("attempt") for name in names for line in jobs.journal(name)),
        "resumed": sum(resumed.values()), "submit_ms_p50": round(1000 * percentile(took, 0.5)),
        "submit_ms_p99": round(1000 * percentile(took, 0.99)), "submitted_after_s": round(submitted, 1),
        "ended_after_s": round(ended, 1), "wrong": len(wrong)}))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trainwarden", required=True)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--python", help="one with PyTorch and trainwarden: every third job is a program of it")
    for name, default in (("jobs", 200), ("agent-kills", 0), ("controller-restarts", 0), ("controller-kills", 0),
                          ("seed", 1)):
        parser.add_argument("--" + name, type=int, default=default)
    arguments = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [daemon for daemon in DAEMONS if not shutil.which(daemon)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed; ./dev test installs slurm-wlm and munge where it may")
        return 77
    with JobFolder(os.path.abspath(arguments.trainwarden)) as jobs:
        (jobs.folder / "cluster").mkdir()
        cluster = Cluster(jobs.folder / "cluster")
        try:
            return prove(arguments, cluster, jobs)
        finally:
            cluster.close()


if __name__ == "__main__":
    sys.exit(main())
