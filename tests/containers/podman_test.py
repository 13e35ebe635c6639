#!/usr/bin/env python3
"""Jobs in containers, with the real podman: what a program sees and leaves, how it is stopped, what is left of it.

usage: podman_test.py --trainwarden PROGRAM

The image is made of this machine's own shell and tools, so no registry is asked. Storage and settings of podman are the
test's own. As root it has a mount namespace of its own, in which the control groups are those of version 2. Exits 77,
which counts as skipped, where podman is not installed or cannot start a container.
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

from own_podman import IMAGE, IN_NAMESPACE, archive_of_image, enter_namespace, podman, settle_in

SKIPPED = 77

arguments = None
place = None  # a pathlib.Path: all that the test writes


class Containers(unittest.TestCase):
    def setUp(self):
        self.folder = place / self.id().rsplit(".", 1)[1]
        (self.folder / "data").mkdir(parents=True)
        (self.folder / "data" / "words.txt").write_text("given\n", encoding="utf-8")
        self.jobs = self.folder / "jobs"

    def tearDown(self):
        if self.jobs.exists():
            for job in self.jobs.iterdir():
                if job.name != ".queue":
                    self.trainwarden("job", "stop", job.name, "--wait", check=False)
        self.assertEqual(podman("ps", "--all", "--quiet").stdout, "", "a container is left")

    def trainwarden(self, *words, check=True):
        environment = dict(os.environ, TRAINWARDEN_JOBS=str(self.jobs), TRAINWARDEN_RUNS=str(self.folder / "runs"))
        return subprocess.run([arguments.trainwarden, *words], check=check, timeout=240, text=True, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def submit(self, name, script, more="", image=IMAGE):
        spec = self.folder / f"{name}.toml"
        spec.write_text(f'name = "{name}"\nimage = "{image}"\nprogram = ["sh", "-c", {json.dumps(script)}]\n{more}\n',
                        encoding="utf-8")
        return self.trainwarden("submit", str(spec))

    def describe(self, name):
        return json.loads(self.trainwarden("job", "describe", name, "--json").stdout)

    def output(self, name):
        return self.trainwarden("job", "logs", name).stdout

    def await_output(self, name, text):
        deadline = time.monotonic() + 60
        while text not in self.output(name):
            self.assertLess(time.monotonic(), deadline, self.output(name))
            time.sleep(0.05)

    def finish(self, name):
        self.trainwarden("job", "wait", name, check=False)
        return self.describe(name)

    def test_a_program_finds_what_is_its_own_and_leaves_what_is_kept(self):
        script = ('cat "$SM_CHANNEL_TRAIN/words.txt"; echo "mine $MINE theirs ${THEIRS:-none}"; id -u; '
                  'echo weights > "$SM_MODEL_DIR/model.bin"; ls /opt/ml/model; '
                  'echo saved > "$TRAINWARDEN_CHECKPOINT_DIR/last.pt"; ls /opt/ml/checkpoints; '
                  'touch "$SM_CHANNEL_TRAIN/more" || echo cannot touch')
        os.environ["THEIRS"] = "secret"
        self.submit("first", script, '[inputs]\ntrain = "data"\n[environment]\nMINE = "yes"')
        del os.environ["THEIRS"]
        job = self.finish("first")
        self.assertEqual(job["secondary_status"], "Completed", self.output("first"))
        text = self.output("first")
        for words in ("given\n", "mine yes theirs none\n", f"{os.getuid()}\n", "model.bin\n", "last.pt\n",
                      "cannot touch\n"):
            self.assertIn(words, text)
        self.assertTrue((self.jobs / "first" / "output" / "model.tar.gz").is_file())
        self.assertEqual((self.jobs / "first" / "checkpoints" / "last.pt").stat().st_uid, os.getuid())
        self.assertRegex(job["container"]["digest"], "^sha256:[0-9a-f]{64}$")
        self.assertEqual(job["container"]["engine"], "podman")

    def test_an_exit_code_is_handed_on(self):
        self.submit("seven", "exit 7")
        job = self.finish("seven")
        self.assertEqual(job["secondary_status"], "Failed")
        self.assertEqual(job["exit"]["code"], 7)

    def test_an_image_that_is_nowhere_is_told(self):
        self.submit("nowhere", "true", image="localhost/trainwarden-nowhere:1")
        job = self.finish("nowhere")
        self.assertEqual(job["secondary_status"], "Failed")
        self.assertIn("localhost/trainwarden-nowhere:1 is not here, and podman cannot fetch it", job["message"])

    def test_a_stop_reaches_the_program(self):
        self.submit("stopped", 'trap "echo saving; exit 0" TERM; echo ready; while :; do sleep 0.05; done')
        self.await_output("stopped", "ready")
        self.trainwarden("job", "stop", "stopped", "--wait", check=False)
        self.assertEqual(self.describe("stopped")["secondary_status"], "Stopped")
        self.assertIn("saving", self.output("stopped"))

    def test_an_agent_that_is_killed_leaves_no_container(self):
        seconds = 3_000_000 + os.getpid()  # no other process sleeps so long
        self.submit("orphan", f"sleep {seconds} & echo ready; wait")
        self.await_output("orphan", "ready")
        agents = subprocess.run(["pgrep", "--full", f"job agent.*{self.jobs}|job agent orphan"], check=False,
                                stdout=subprocess.PIPE, text=True).stdout.split()
        own = [int(a) for a in agents if str(self.folder) in
               pathlib.Path(f"/proc/{a}/environ").read_text(encoding="utf-8", errors="replace")]
        self.assertEqual(len(own), 1, agents)
        os.kill(own[0], signal.SIGKILL)
        deadline = time.monotonic() + 60
        while self.describe("orphan")["secondary_status"] != "Failed":
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)
        while podman("ps", "--all", "--quiet").stdout and time.monotonic() < deadline:
            time.sleep(0.2)
        left = subprocess.run(["pgrep", "--full", f"sleep {seconds}"], check=False, stdout=subprocess.PIPE, text=True)
        self.assertEqual(left.stdout, "", "a process is left")

    def test_an_isolated_job_has_no_network(self):
        self.submit("alone", "cat /proc/net/dev", "isolated_network = true")
        self.assertEqual(self.finish("alone")["secondary_status"], "Completed", self.output("alone"))
        lines = [line for line in self.output("alone").splitlines() if not line.startswith("trainwarden: ")]
        devices = [line.split(":")[0].strip() for line in lines if ":" in line]
        self.assertEqual(devices, ["lo"])


def main():
    global arguments, place
    parser = argparse.ArgumentParser()
    parser.add_argument("--trainwarden", required=True)
    parser.add_argument(IN_NAMESPACE, action="store_true")
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    if shutil.which("podman") is None:
        print("skipped: podman is not installed")
        return SKIPPED
    if os.geteuid() == 0 and not arguments.in_namespace:
        enter_namespace(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="trainwarden-containers-", ignore_cleanup_errors=True) as folder:
        place = pathlib.Path(folder)
        settle_in(place)
        try:
            podman("import", archive_of_image(place), IMAGE)
            podman("run", "--rm", "--network=none", IMAGE, "sh", "-c", "exit 0")
        except (RuntimeError, subprocess.TimeoutExpired) as failed:
            print("skipped: podman cannot start a container here:", failed)
            return SKIPPED
        program = unittest.main(argv=[sys.argv[0], *arguments.tests], exit=False, verbosity=2)
        podman("rmi", "--all", "--force", check=False)
        return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
