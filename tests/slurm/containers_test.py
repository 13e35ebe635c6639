#!/usr/bin/env python3
"""Jobs in containers on Slurm, with the real daemons and the real podman: what each task sees, how all are stopped, what is
left of them.

usage: containers_test.py --trainwarden PROGRAM

Two nodes, which are this machine; each has a storage of podman's of its own, as the nodes of a cluster have. Exits 77, which
counts as skipped, where Slurm or podman is not installed, or podman cannot start a container.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(TESTS / "containers"))
sys.path.append(str(TESTS / "jobs"))

from job_trials import leftovers, processes_with  # noqa: E402
from many_jobs import DAEMONS, Cluster  # noqa: E402
from own_podman import IMAGE, archive_of_image, make_store, podman, settle_in  # noqa: E402

SKIPPED = 77
TWO_BY_TWO = "[resources]\nnodes = 2\ntasks_per_node = 2\ncpus = 1\nmemory = '100 MiB'\n"
WAITS = 'trap "echo saving $RANK; exit 0" TERM; echo ready $RANK; while :; do sleep 0.05; done'
NODES = ("node1", "node2")

arguments = None
place = None  # a pathlib.Path: all that the test writes


def store_of(node):
    return place / node / "storage.conf"


def put_podman_in_path():
    """In place of the real one: on a node it has the storage of that node, and as root it sees control groups of version 2,
    which Slurm's own daemons would refuse beside those of version 1."""
    folder, real = place / "bin", shutil.which("podman")
    folder.mkdir()
    inside = 'mount --make-rprivate / && mount -t cgroup2 none /sys/fs/cgroup && exec "$@"'
    namespace = f"unshare --mount sh -c '{inside}' sh " if os.geteuid() == 0 else ""
    (folder / "podman").write_text(
        f'#!/bin/sh\ntest -n "$SLURMD_NODENAME" && export CONTAINERS_STORAGE_CONF="{place}/$SLURMD_NODENAME/storage.conf"\n'
        f'exec {namespace}{real} "$@"\n', encoding="utf-8")
    (folder / "podman").chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def make_nodes():
    put_podman_in_path()
    archive = archive_of_image(place)
    for node in NODES:
        make_store(place / node)
        podman("import", archive, IMAGE, store=store_of(node))
    podman("run", "--rm", "--network=none", IMAGE, "sh", "-c", "exit 0", store=store_of(NODES[0]))


def containers():
    return [name for node in NODES
            for name in podman("ps", "--all", "--format", "{{.Names}}", store=store_of(node)).stdout.split()]


class Containers(unittest.TestCase):
    def setUp(self):
        self.folder = place / self.id().rsplit(".", 1)[1]
        (self.folder / "data").mkdir(parents=True)
        (self.folder / "data" / "words.txt").write_text("given\n", encoding="utf-8")
        self.jobs = self.folder / "jobs"

    def tearDown(self):
        for job in self.jobs.iterdir() if self.jobs.exists() else ():
            self.trainwarden("job", "stop", job.name, "--wait")
        self.becomes_empty(containers)
        self.becomes_empty(lambda: leftovers(self.folder))

    def becomes_empty(self, what, seconds=40):
        deadline = time.monotonic() + seconds
        while (left := what()) and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertEqual(left, [], "something is left")

    def trainwarden(self, *words):
        environment = dict(os.environ, TRAINWARDEN_JOBS=str(self.jobs), TRAINWARDEN_RUNS=str(self.folder / "runs"))
        return subprocess.run([arguments.trainwarden, *words], check=False, timeout=240, text=True, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def submit(self, name, script, more="", image=IMAGE):
        spec = self.folder / f"{name}.toml"
        spec.write_text(f'name = "{name}"\nbackend = "slurm"\nimage = "{image}"\nhook = false\n'
                        f'program = ["sh", "-c", {json.dumps(script)}]\n{more}\n', encoding="utf-8")
        submitted = self.trainwarden("submit", str(spec))
        self.assertEqual(submitted.returncode, 0, submitted.stderr)

    def describe(self, name):
        return json.loads(self.trainwarden("job", "describe", name, "--json").stdout)

    def output(self, name):
        return self.trainwarden("job", "logs", name).stdout

    def await_output(self, name, *texts):
        deadline = time.monotonic() + 90
        while not all(text in self.output(name) for text in texts):
            self.assertLess(time.monotonic(), deadline, self.output(name) + str(self.describe(name)))
            time.sleep(0.2)

    def finish(self, name):
        self.trainwarden("job", "wait", name)
        return self.describe(name)

    def test_a_program_finds_what_is_its_own_and_leaves_what_is_kept(self):
        self.submit("first", 'cat "$SM_CHANNEL_TRAIN/words.txt"; echo "mine $MINE on $SLURMD_NODENAME host $SM_CURRENT_HOST"; '
                    'echo weights > "$SM_MODEL_DIR/model.bin"; echo saved > /opt/ml/checkpoints/last.pt; '
                    'ls /opt/ml/input/data/train; ls /root /home || echo outside is not seen',
                    '[inputs]\ntrain = "data"\n[environment]\nMINE = "yes"')
        job = self.finish("first")
        self.assertEqual(job["secondary_status"], "Completed", self.output("first"))
        for words in ("given\n", "mine yes on node1 host node1\n", "words.txt\n", "outside is not seen\n"):
            self.assertIn(words, self.output("first"))
        self.assertTrue((self.jobs / "first" / "output" / "model.tar.gz").is_file())
        self.assertEqual((self.jobs / "first" / "checkpoints" / "last.pt").read_text(encoding="utf-8"), "saved\n")
        self.assertEqual(job["container"]["engine"], "podman")
        self.assertRegex(job["container"]["digest"], "^sha256:[0-9a-f]{64}$")

    def test_each_task_has_a_container_and_its_rank(self):
        self.submit("four", 'echo "rank $RANK local $LOCAL_RANK of $WORLD_SIZE node $GROUP_RANK of $GROUP_WORLD_SIZE on '
                    '$SM_CURRENT_HOST task $SLURM_PROCID port ${MASTER_PORT:+there}"; ls -l /proc/self/ns/net', TWO_BY_TWO)
        self.assertEqual(self.finish("four")["secondary_status"], "Completed", self.output("four"))
        for rank in range(4):
            node, local = divmod(rank, 2)
            self.assertIn(f"[{rank}] rank {rank} local {local} of 4 node {node} of 2 on node{node + 1} task {rank} port there",
                          self.output("four"))
        self.assertEqual(self.output("four").count(os.readlink("/proc/self/ns/net")), 4, "rank 0 is found by its address")

    def test_a_stop_reaches_each_program(self):
        self.submit("stopped", WAITS, TWO_BY_TWO)
        self.await_output("stopped", *(f"ready {rank}" for rank in range(4)))
        self.assertEqual(len(containers()), 4)
        self.trainwarden("job", "stop", "stopped", "--wait")
        self.assertEqual(self.describe("stopped")["secondary_status"], "Stopped")
        for rank in range(4):
            self.assertIn(f"saving {rank}", self.output("stopped"))

    def test_one_that_fails_ends_the_others(self):
        self.submit("fails", "echo ready; test $RANK = 2 && sleep 1 && exit 5; sleep 600", TWO_BY_TWO)
        self.assertIn("rank 2 has ended with exit code 5", self.finish("fails")["message"])

    def test_an_agent_that_is_killed_leaves_no_container(self):
        self.submit("orphan", WAITS, TWO_BY_TWO)
        self.await_output("orphan", *(f"ready {rank}" for rank in range(4)))
        for agent in processes_with(self.folder, b"slurm-agent"):
            os.kill(agent, signal.SIGKILL)
        self.assertEqual(self.finish("orphan")["secondary_status"], "Failed")

    def test_where_no_engine_is_that_takes_it_the_end_says_so(self):
        if shutil.which("apptainer"):
            self.skipTest("apptainer is installed")
        self.submit("file", "true", TWO_BY_TWO, image="train.sif")
        job = self.finish("file")
        self.assertEqual(job["secondary_status"], "Failed")
        self.assertRegex(job["message"], "a .sif file needs apptainer, which is not installed.*on node[12]")


def missing():
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    absent = [program for program in (*DAEMONS, "podman") if not shutil.which(program)]
    return f"{', '.join(absent)} not installed" if absent else ""


def main():
    global arguments, place
    parser = argparse.ArgumentParser()
    parser.add_argument("--trainwarden", required=True)
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    if absent := missing():
        print("skipped:", absent)
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="trainwarden-containers-", ignore_cleanup_errors=True) as folder:
        place = pathlib.Path(folder)
        settle_in(place)
        try:
            make_nodes()
        except (RuntimeError, subprocess.TimeoutExpired) as failed:
            print("skipped: podman cannot start a container here:", failed)
            return SKIPPED
        (place / "cluster").mkdir()
        cluster = Cluster(place / "cluster", nodes=2, cpus=4)
        try:
            program = unittest.main(argv=[sys.argv[0], *arguments.tests], exit=False, verbosity=2)
        finally:
            cluster.close()
        for node in NODES:
            podman("rmi", "--all", "--force", check=False, store=store_of(node))
        return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
