#!/usr/bin/env python3
"""Many jobs of a second on one node of Slurm, while their agents and the controller are killed: each job ends exactly once,
with the state that its own program's journal proves.

usage: many_jobs.py --trainwarden PROGRAM [--jobs N] [--agent-kills N] [--controller-restarts N] [--controller-kills N]
                    [--seed N]

A controller that is killed has lost what it did in the seconds before: it forgets jobs, cancels them, or starts them once
more. Those may fail, with the words InternalServerError, or be stopped because they are cancelled in Slurm; none may run
twice or be Completed without having run.

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
import tempfile
import threading
import time

CLUSTER = pathlib.Path(__file__).resolve().parent.parent / "servers/slurm_cluster.py"
DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch")
# What a training does: each line is on the disk before the next step begins.
PROGRAM = """
import os, sys, time
with open(sys.argv[1], "a") as journal:
    for word in ("begin", "end"):
        journal.write(word + " " + str(os.getpid()) + "\\n")
        journal.flush()
        os.fsync(journal.fileno())
        if word == "begin":
            time.sleep(1)
"""


class Cluster:
    def __init__(self, work):
        self.process = subprocess.Popen(
            [sys.executable, CLUSTER, "--work", work, "--cpus", "16", "--kill-wait", "2"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
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


class Jobs:
    def __init__(self, program, folder, count):
        self.program, self.folder, self.count = program, folder, count
        self.names = [f"job-{number}" for number in range(count)]
        self.submit_s, self.failed_to_submit = [], []
        (folder / "train.py").write_text(PROGRAM, encoding="ascii")

    def run(self, *words):
        return subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, check=False)

    def submit_all(self):
        for name in self.names:
            spec = self.folder / f"{name}.json"
            spec.write_text(json.dumps({
                "program": [sys.executable, "-S", str(self.folder / "train.py"), str(self.folder / f"{name}.journal")],
                "backend": "slurm", "memory": "20 MB", "hook": False}), encoding="ascii")
            begin = time.monotonic()
            answer = self.run("submit", str(spec), "--name", name)
            self.submit_s.append(time.monotonic() - begin)
            if answer.returncode != 0:
                self.failed_to_submit.append((name, answer.stderr.strip()))

    def listed(self):
        return {job["name"]: job for job in json.loads(self.run("job", "ls", "--json").stdout)["jobs"]}

    def transitions(self, name):
        files = sorted((self.folder / "jobs" / name / "state").glob("*.json"))
        return [json.loads(file.read_text())["status"] for file in files]

    def journal(self, name):
        file = self.folder / f"{name}.journal"
        return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []


ENDED = {"Completed", "Failed", "Stopped", "MaxRuntimeExceeded"}


def agents(folder):
    """The processes that are agents of jobs in this folder, by the name of their job."""
    jobs = str(folder / "jobs").encode()
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"slurm-agent" in words and jobs in words:
                found[words[words.index(b"slurm-agent") + 1].decode()] = int(entry.name)
    return found


def leftovers(folder):
    mark = f"TRAINWARDEN_JOB_DIR={folder}/".encode()
    left = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark in (entry / "environ").read_bytes():
                    left.append(int(entry.name))
            except OSError:
                continue
    return left


def kill_agents(folder, count, killed, stop, chance):
    while len(killed) < count and not stop.is_set():
        time.sleep(chance.uniform(0.05, 0.4))
        running = sorted(agents(folder).items())
        if running:
            name, process = chance.choice(running)
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed[name] += 1


def end_controller(cluster, words, stop, chance):
    for word in words:
        if stop.wait(chance.uniform(1, 4)):
            return
        cluster.do(f"{word} controller")
        cluster.do("start controller")


def wrong_of(jobs, name, job, killed, forgetful):
    """What is wrong with a job, by the journal that its program has written itself."""
    state, journal, ways = job["status"], jobs.journal(name), jobs.transitions(name)
    ends = [way for way in ways if way in ENDED]
    if len(ends) != 1 or ways[-1] != state:
        return f"ended {len(ends)} times: {ways}"
    if journal.count("begin") > 1:
        return f"its program ran {journal.count('begin')} times"
    if state == "Completed" and journal != ["begin", "end"]:
        return f"is Completed, and its journal says {journal}"
    forgotten = forgetful and job["message"].startswith(("InternalServerError", "cancelled in Slurm"))
    if state != "Completed" and not killed[name] and not forgotten:
        return f"is {state}, and nobody has killed its agent: {job['message']}; {ways}; {journal}"
    return None


def percentile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trainwarden", required=True)
    for name, default in (("jobs", 200), ("agent-kills", 0), ("controller-restarts", 0), ("controller-kills", 0),
                          ("seed", 1)):
        parser.add_argument("--" + name, type=int, default=default)
    arguments = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [daemon for daemon in DAEMONS if not shutil.which(daemon)]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed; ./dev test installs slurm-wlm and munge where it may")
        return 77
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trainwarden-test-"))
    try:
        (folder / "cluster").mkdir()
        cluster = Cluster(folder / "cluster")
        try:
            return prove(arguments, cluster, Jobs(os.path.abspath(arguments.trainwarden), folder, arguments.jobs))
        finally:
            cluster.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def prove(arguments, cluster, jobs):
    chance, killed, stop = random.Random(arguments.seed), collections.Counter(), threading.Event()
    ends = ["stop"] * arguments.controller_restarts + ["kill"] * arguments.controller_kills
    chance.shuffle(ends)
    killers = [threading.Thread(target=kill_agents, args=(jobs.folder, arguments.agent_kills, killed, stop, chance)),
               threading.Thread(target=end_controller, args=(cluster, ends, stop, chance))]
    begin = time.monotonic()
    for killer in killers:
        killer.start()
    jobs.submit_all()
    submitted = time.monotonic() - begin
    open_jobs, end = {}, time.monotonic() + 300
    while time.monotonic() < end:
        listed = jobs.listed()
        open_jobs = {name: job["status"] for name, job in listed.items() if job["status"] not in ENDED}
        if not open_jobs and not any(killer.is_alive() for killer in killers[1:]):
            break
        if arguments.controller_kills:  # it takes a node out of service that knows more of its jobs than itself
            subprocess.run(["scontrol", "update", "nodename=node1", "state=resume"], check=False, capture_output=True)
        time.sleep(0.5)
    took = time.monotonic() - begin
    stop.set()
    for killer in killers:
        killer.join()
    listed = jobs.listed()
    states = {name: job["status"] for name, job in listed.items()}
    wrong = [f"{name}: {status}, after {took:.0f} s" for name, status in open_jobs.items()]
    wrong += [f"{name}: not submitted: {why}" for name, why in jobs.failed_to_submit]
    wrong += [f"{name}: lost" for name in jobs.names if name not in states]
    for name, job in listed.items():
        if problem := wrong_of(jobs, name, job, killed, arguments.controller_kills > 0):
            wrong.append(f"{name}: {problem}")
    left = leftovers(jobs.folder)
    wrong += [f"process {process} is left" for process in left]
    print(json.dumps({"jobs": jobs.count, "states": dict(collections.Counter(states.values())),
                      "agents_killed": sum(killed.values()), "controller_restarted": arguments.controller_restarts,
                      "controller_killed": arguments.controller_kills,
                      "submit_ms_p50": round(1000 * percentile(jobs.submit_s, 0.5)),
                      "submit_ms_p99": round(1000 * percentile(jobs.submit_s, 0.99)),
                      "submitted_after_s": round(submitted, 1), "ended_after_s": round(took, 1),
                      "wrong": len(wrong)}))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
