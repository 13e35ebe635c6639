#!/usr/bin/env python3
"""Tasks of jobs on Slurm that are bound to processors, on its real daemons: where Slurm binds them, and where it does not.

usage: binding_test.py --trainwarden PROGRAM

Exits 77, which counts as skipped, where there is no Slurm, or fewer than two cores.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from many_jobs import DAEMONS, Cluster  # noqa: E402

SKIPPED = 77
PRINTS = "import os; print('sees', sorted(os.sched_getaffinity(0)), flush=True)"


def cores():
    """Of each core the processors that this process may use."""
    found = {}
    for cpu in os.sched_getaffinity(0):
        topology = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        place = tuple((topology / name).read_text().strip() for name in ("physical_package_id", "core_id"))
        found.setdefault(place, []).append(cpu)
    return list(found.values())


def run_job(trainwarden, folder, name, bind):
    """What each rank saw of its own processors, and what `job describe` says of them."""
    spec = folder / f"{name}.json"
    spec.write_text(json.dumps({"name": name, "program": [sys.executable, "-S", "-c", PRINTS], "backend": "slurm",
                                "hook": False, "resources": {"tasks_per_node": 2, "cpus": 1, "memory": "50 MiB",
                                                             "bind": bind}}), encoding="ascii")
    environment = dict(os.environ, TRAINWARDEN_JOBS=str(folder / "jobs"), TRAINWARDEN_RUNS=str(folder / "runs"))

    def run(*words):
        return subprocess.run([trainwarden, *words], check=False, timeout=120, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    said = run("submit", str(spec)) + run("job", "wait", name)
    output = run("job", "logs", name)
    seen = {int(rank): json.loads(cpus) for rank, cpus in re.findall(r"\[(\d)\] sees (\[.*\])", output)}
    described = json.loads(run("job", "describe", name, "--json"))
    assert described["secondary_status"] == "Completed", said + output + described["message"]
    assert "rank 1 to " in run("job", "describe", name), run("job", "describe", name)
    return [seen[0], seen[1]], described["setup"]["rank_cpus"]


def try_cluster(trainwarden, task):
    with tempfile.TemporaryDirectory(prefix="trainwarden-binding-") as name:
        folder = pathlib.Path(name)
        (folder / "cluster").mkdir()
        cluster = Cluster(folder / "cluster", cpus=os.cpu_count(), task=task)
        try:
            seen, described = run_job(trainwarden, folder, "to-cores", "cores")
            assert seen == described, f"{task}: the tasks saw {seen}, the job has {described}"
            assert seen[0] and seen[1] and not set(seen[0]) & set(seen[1]), f"{task}: both may use {seen}"
            seen, described = run_job(trainwarden, folder, "to-sockets", "sockets")
            assert seen == described, f"{task}: the tasks saw {seen}, the job has {described}"
        finally:
            cluster.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trainwarden", required=True)
    arguments = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [daemon for daemon in DAEMONS if not shutil.which(daemon)]
    if missing or len(cores()) < 2:
        print("skipped:", f"{', '.join(missing)} not installed" if missing else "this machine has one core")
        return SKIPPED
    for task in ("task/none", "task/affinity"):
        try_cluster(os.path.abspath(arguments.trainwarden), task)
        print(task, "fine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
