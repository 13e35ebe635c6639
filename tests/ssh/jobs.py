#!/usr/bin/env python3
"""Jobs as a user submits them, on a real sshd on the loopback, which stands for another machine: it has a home and a
folder of jobs of its own.

usage: jobs.py --trainwarden PROGRAM [TEST...]    exit code 77: no sshd is installed
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

SERVER = pathlib.Path(__file__).resolve().parents[1] / "servers/ssh_server.py"
PROGRAM = None
SECONDS = 60


class Server:
    def __init__(self, folder, *options):
        for name in ("server", "home", "programs"):
            (folder / name).mkdir()
        self.home = folder / "home"
        self.programs = folder / "programs"
        (self.programs / "trainwarden").symlink_to(PROGRAM)
        self.bin = folder / "server/bin"
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(SERVER), "--work", str(folder / "server"), "--home", str(self.home), "--path",
             str(self.programs), *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.read("ready")

    def read(self, word):
        line = self.process.stdout.readline().strip()
        if not line and self.process.wait(timeout=30) == 77:
            raise unittest.SkipTest("no network namespace can be made here")
        assert line == word, f"the server says {line!r}"

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        self.read("done")

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


class Jobs(unittest.TestCase):
    SERVER_OPTIONS = ()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tw-ssh-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.server = Server(self.folder, *self.SERVER_OPTIONS)
        self.addCleanup(self.server.end)
        self.near = self.folder / "near"
        self.near.mkdir()
        self.far = self.server.home / "trainwarden"
        self.addCleanup(self.stop_all)

    def stop_all(self):
        """No job of a test outlives it, nor its keeper there, nor who follows it."""
        for job in (self.far / "jobs").glob("*/job.json"):
            self.run_there("job", "stop", job.parent.name, "--wait")
        for lease in self.near.glob("jobs/*/ssh/follower.lease"):
            kill(lease, signal.SIGTERM)

    def environment(self, **more):
        return {**os.environ, "PATH": f"{self.server.bin}:{os.environ['PATH']}", **more}

    def run_here(self, *words, timeout=SECONDS, **more):
        return subprocess.run([PROGRAM, *words], cwd=self.near, env=self.environment(**more), capture_output=True,
                              text=True, timeout=timeout, check=False)

    def run_there(self, *words):
        return subprocess.run([PROGRAM, *words, "--jobs", str(self.far / "jobs")], capture_output=True, text=True,
                              timeout=SECONDS, check=False)

    def submit(self, name, script, more="", hosts=("box",), table="", **environment):
        (self.near / "job.toml").write_text(
            f"name = '{name}'\nprogram = ['/bin/sh', '-c', '''{script}''']\nbackend = 'ssh'\nhook = false\ncpus = 1\n"
            f"{more}\n[ssh]\nhosts = {json.dumps(hosts)}\n{table}\n", encoding="utf-8")
        return self.run_here("submit", "job.toml", **environment)

    def started(self, *arguments, **more):
        submitted = self.submit(*arguments, **more)
        self.assertEqual(submitted.returncode, 0, submitted.stderr)
        self.assertEqual(submitted.stdout.strip(), arguments[0])

    def describe(self, name):
        answer = self.run_here("job", "describe", name, "--json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def await_status(self, name, *statuses):
        end = time.monotonic() + SECONDS
        while (now := self.describe(name))["secondary_status"] not in statuses:
            self.assertLess(time.monotonic(), end, f"{now} {self.log(name)}")
            time.sleep(0.2)
        return now

    def await_true(self, condition):
        end = time.monotonic() + SECONDS
        while not (answer := condition()):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        return answer

    def log(self, name):
        path = self.near / "jobs" / name / "ssh/follower.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def output(self, name):
        """What its program has printed; `trainwarden run` prints beside it."""
        lines = self.run_here("job", "logs", name).stdout.splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("trainwarden: "))


class SshJobs(Jobs):
    # What a job goes through when nothing goes wrong.

    def test_runs_there_and_is_seen_here(self):
        (self.near / "helper.txt").write_text("helped\n", encoding="utf-8")
        self.started("first", "pwd; cat helper.txt; echo loss=0.5; echo m > $SM_MODEL_DIR/m; sleep 1; echo last",
                     "rules = ['LossSpike']\n[[metric]]\nname = 'loss'\nregex = 'loss=(.*)'")
        waited = self.run_here("job", "wait", "first")
        self.assertEqual(waited.returncode, 0, waited.stdout + waited.stderr)
        printed = self.output("first").splitlines()
        self.assertTrue(printed[0].startswith(str(self.far)), printed)
        self.assertEqual(printed[1:4], ["helped", "loss=0.5", "last"])
        there = json.loads(self.run_there("job", "describe", "first", "--json").stdout)
        here = self.describe("first")
        self.assertEqual((here["backend"], here["host"]), ("ssh", "box"))
        self.assertEqual(here["transitions"][1:], there["transitions"][1:])
        self.assertEqual([(one["rule"], one["status"]) for one in here["rules"]], [("LossSpike", "NotApplicable")])
        logs = [run("job", "logs", "first", "--rule", "LossSpike").stdout for run in (self.run_here, self.run_there)]
        self.assertIn("  NotApplicable  ", logs[0])
        self.assertEqual(logs[0], logs[1])
        self.assertIn("output/model.tar.gz", self.run_here("job", "files", "first").stdout)
        self.assertIn("loss", self.run_here("metrics", "show", "first").stdout)
        self.assertEqual(self.run_here("job", "rm", "first", "--run").returncode, 0)
        for folder in ("jobs/first", "runs/first"):
            self.assertFalse((self.far / folder).exists(), folder)
            self.assertFalse((self.near / folder).exists(), folder)
        self.assertEqual(list((self.far / "incoming").iterdir()), [])

    def test_follows_while_it_runs(self):
        self.started("live", "echo one; sleep 60")
        self.await_true(lambda: self.output("live") == "one\n")
        self.assertEqual(self.describe("live")["secondary_status"], "Training")

    def test_jobs_of_a_host_wait_for_one_another(self):
        self.run_there("job", "queue", "--cpus", "1")
        self.started("one", "sleep 60")
        self.await_status("one", "Training")
        self.started("two", "echo two")
        there = lambda: json.loads(self.run_there("job", "describe", "two", "--json").stdout)
        self.await_true(lambda: there()["message"].startswith("waits for "))
        self.assertEqual(self.describe("two")["secondary_status"], "Pending")
        self.assertEqual(self.run_here("job", "stop", "one", "--wait").returncode, 0)
        self.await_status("two", "Completed")

    def test_fails_as_its_program_fails(self):
        self.started("bad", "exit 3")
        self.assertEqual(self.run_here("job", "wait", "bad").returncode, 1)
        self.assertEqual(self.describe("bad")["exit"]["code"], 3)

    def test_stops_a_program_with_time_to_save(self):
        self.started("saves", "trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.1; done")
        self.await_true(lambda: "up" in self.output("saves"))
        stopped = self.run_here("job", "stop", "saves", "--wait")
        self.assertEqual(stopped.returncode, 0, stopped.stderr)
        self.assertEqual(self.describe("saves")["secondary_status"], "Stopped")
        self.assertIn("saved", self.output("saves"))

    def test_goes_on_when_asked_to(self):
        self.started("again", "if [ $TRAINWARDEN_JOB_ATTEMPT = 1 ]; then exit 4; fi; echo second")
        self.await_status("again", "Failed")
        resumed = self.run_here("job", "resume", "again")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.await_status("again", "Completed")
        self.assertIn("second", self.output("again"))

    # What may die.

    def test_goes_on_while_the_connection_is_gone(self):
        self.started("cut", "for i in 1 2 3 4 5 6 7 8 9; do echo step $i; sleep 1; done")
        self.await_true(lambda: "step 1" in self.output("cut"))
        self.server.tell("kill")
        gone = self.await_true(lambda: "cannot be reached since" in self.describe("cut")["message"])
        self.assertTrue(gone)
        self.assertEqual(self.describe("cut")["secondary_status"], "Training")
        refused = self.run_here("job", "stop", "cut")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("box", refused.stderr)
        self.server.tell("start")
        self.await_status("cut", "Completed")
        self.assertEqual(self.output("cut").splitlines(), [f"step {i}" for i in range(1, 10)])

    def test_needs_no_follower(self):
        self.started("alone", "for i in 1 2 3; do echo step $i; sleep 1; done")
        self.await_true(lambda: "step 1" in self.output("alone"))
        kill(self.near / "jobs/alone/ssh/follower.lease", signal.SIGKILL)
        self.await_true(lambda: (self.far / "jobs/alone/attempts/1/exit.json").exists())
        self.await_status("alone", "Completed")
        self.assertEqual(self.output("alone").splitlines(), ["step 1", "step 2", "step 3"])

    def test_leaves_no_orphan_when_its_agent_is_killed(self):
        self.started("killed", "echo $$; sleep 60")
        program = int(self.await_true(lambda: self.output("killed").strip()))
        kill(self.far / "jobs/killed/agent.lease", signal.SIGKILL)
        now = self.await_status("killed", "Failed")
        self.assertIn("its agent is gone", now["message"])
        self.await_true(lambda: not runs(program))

    def test_kills_what_ignores_sigterm(self):
        self.started("deaf", "trap '' TERM; echo $$; while :; do sleep 0.2; done")
        program = int(self.await_true(lambda: self.output("deaf").strip()))
        self.assertEqual(self.run_here("job", "stop", "deaf").returncode, 0)
        self.await_status("deaf", "Stopping")
        # Its grace is two minutes; an agent that is killed does not wait for that.
        kill(self.far / "jobs/deaf/agent.lease", signal.SIGKILL)
        self.await_status("deaf", "Stopped")
        self.await_true(lambda: not runs(program))

    def test_removed_there_has_failed_here(self):
        self.started("lost", "sleep 60")
        self.await_status("lost", "Training")
        self.run_there("job", "stop", "lost", "--wait")
        self.await_status("lost", "Stopped")
        self.started("lost2", "sleep 60")
        self.await_status("lost2", "Training")
        self.server.tell("kill")
        self.run_there("job", "stop", "lost2", "--wait")
        self.assertEqual(self.run_there("job", "rm", "lost2").returncode, 0)
        self.server.tell("start")
        self.assertIn("it is not on box", self.await_status("lost2", "Failed")["message"])

    # What is refused, and makes nothing.

    def assert_refused(self, answer, *words):
        self.assertNotEqual(answer.returncode, 0, answer.stdout)
        for word in words:
            self.assertIn(word, answer.stderr)
        self.assertFalse(list((self.near / "jobs").glob("*/job.json")))

    def test_a_key_that_the_host_does_not_know(self):
        self.assert_refused(self.submit("x", "true", hosts=["stranger"]), "stranger: ", "Permission denied")

    def test_a_host_key_that_nobody_knows(self):
        self.assert_refused(self.submit("x", "true", hosts=["unknown"]), "Host key verification failed")

    def test_a_host_that_does_not_exist(self):
        self.assert_refused(self.submit("x", "true", hosts=["nowhere.invalid"]), "nowhere.invalid")

    def test_a_host_without_trainwarden(self):
        (self.server.programs / "trainwarden").unlink()
        self.assert_refused(self.submit("x", "true"), "trainwarden is not there", "pip install trainwarden")
        (self.server.home / "venv").mkdir()
        (self.server.home / "venv/trainwarden").symlink_to(PROGRAM)
        self.started("found", "true", table="path = ['~/venv']")
        self.await_status("found", "Completed")

    def test_a_host_with_another_version(self):
        program = self.server.programs / "trainwarden"
        program.unlink()
        program.write_text("#!/bin/sh\necho trainwarden 0.0.1\n", encoding="utf-8")
        program.chmod(0o755)
        self.assert_refused(self.submit("x", "true"), "found trainwarden 0.0.1")

    def test_words_that_are_wrong(self):
        self.assert_refused(self.submit("x", "true", hosts=["-oProxyCommand=touch x"]), "expected a host as in")
        self.assert_refused(self.submit("x", "true", hosts=[]), "TRAINWARDEN_SSH_HOSTS")
        self.assert_refused(self.submit("x", "true", "nodes = 2"), "nodes")

    def test_what_the_host_refuses_has_failed(self):
        self.started("twice", "true")
        self.await_status("twice", "Completed")
        shutil.rmtree(self.near / "jobs")
        shutil.rmtree(self.near / "runs", ignore_errors=True)
        again = self.submit("twice", "true")
        self.assertEqual(again.returncode, 1)
        self.assertIn('there is a job "twice" already', again.stderr)
        self.assertEqual(self.describe("twice")["secondary_status"], "Failed")
        more = self.submit("large", "true", "memory = '900 TiB'")
        self.assertIn("memory: expected", more.stderr)

    @unittest.skipUnless(os.getuid() == 0, "needs the right to mount a small disk")
    def test_a_disk_that_is_full_there(self):
        (self.far / "jobs").mkdir(parents=True)
        small = self.far / "incoming"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True,
                                 check=False)
        if mounted.returncode != 0:
            self.skipTest("cannot mount here")
        self.addCleanup(subprocess.run, ["umount", str(small)], check=False)
        (self.near / "large.bin").write_bytes(os.urandom(1 << 20))
        answer = self.submit("full", "true")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("No space left on device", answer.stderr)
        self.assertEqual(self.describe("full")["secondary_status"], "Failed")
        self.assertEqual(list(small.iterdir()), [])

    def test_the_least_busy_of_several_that_are_fit(self):
        self.started("a", "true", hosts=["nowhere.invalid", "box"])
        self.await_status("a", "Completed")
        (self.near / "job.toml").write_text("name = 'b'\nprogram = ['true']\nhook = false\n", encoding="utf-8")
        submitted = self.run_here("submit", "job.toml", "--backend", "ssh", TRAINWARDEN_SSH_HOSTS="stranger, box")
        self.assertEqual(submitted.returncode, 0, submitted.stderr)
        self.await_status("b", "Completed")


@unittest.skipUnless(os.getuid() == 0 and shutil.which("ip"), "needs the right to make a network namespace")
class SshNamespace(Jobs):
    """The host has a network of its own. A machine that is gone does not refuse: nothing comes back from it."""
    SERVER_OPTIONS = ("--namespace", f"tw{os.getpid()}")

    def test_goes_on_while_the_cable_is_out(self):
        self.started("far", "ip -br address; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo step $i; sleep 1; done")
        self.await_true(lambda: "step 1" in self.output("far"))
        self.server.tell("unplug")
        begin = time.monotonic()
        self.assertEqual(self.describe("far")["secondary_status"], "Training")
        refused = self.run_here("job", "stop", "far")
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("box", refused.stderr)
        self.assertLess(time.monotonic() - begin, 40, "who looks does not wait for a host that does not answer")
        self.server.tell("plug")
        self.await_status("far", "Completed")
        lines = self.output("far").splitlines()
        self.assertRegex("".join(lines), r"10\.213\.\d+\.2/30", "it runs in the namespace")
        self.assertEqual([line for line in lines if line.startswith("step")], [f"step {i}" for i in range(1, 13)])


def kill(lease, number):
    try:
        os.kill(json.loads(lease.read_text(encoding="utf-8"))["pid"], number)
    except (OSError, ValueError):
        pass


def runs(process):
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--trainwarden", required=True)
    arguments, rest = parser.parse_known_args()
    PROGRAM = str(pathlib.Path(arguments.trainwarden).resolve())
    if not shutil.which("sshd", path="/usr/sbin:/sbin:/usr/bin"):
        print("sshd is not installed (scripts/packages/ssh.txt)")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest])
