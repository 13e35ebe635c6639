"""Runs in buckets, as users have them: mirrored while they are written, read there, killed, and without a network.

    TRAINWARDEN_MOTO_PYTHON=PYTHON buckets_test.py TRAINWARDEN TINY_TRAINING

PYTHON has moto, whose server of S3 this starts.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "servers"))
from bucket_server import BadNetwork, BucketServer  # noqa: E402

TRAINWARDEN = TINY_TRAINING = ""

class Buckets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bucket = BucketServer()

    @classmethod
    def tearDownClass(cls):
        cls.bucket.end()

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._folder.name)
        self.addCleanup(self._folder.cleanup)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "TRAINWARDEN"))}
        self.environment.update(
            AWS_ENDPOINT_URL=f"http://127.0.0.1:{self.bucket.port}", AWS_ACCESS_KEY_ID=self.bucket.key,
            AWS_SECRET_ACCESS_KEY=self.bucket.secret, HOME=self._folder.name, TRAINWARDEN_RUNS=str(self.folder / "runs"))

    def start(self, *words, **more):
        return subprocess.Popen([TRAINWARDEN, *words], cwd=self.folder, env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def run_cli(self, *words, code=0):
        process = self.start(*words)
        out, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, f"{words}\n{out}{errors}")
        return out, errors

    def json(self, *words):
        return json.loads(self.run_cli(*words, "--json")[0])

    def run_training(self, name, *words, more=()):
        return self.run_cli("run", "--no-sample", "--name", name, *more, "--", TINY_TRAINING, *words)

    def wait_for(self, what, seconds=30):
        end = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), end, "it did not come")
            time.sleep(0.05)

    def same_as_here(self, name, prefix):
        """All files of the run, but what stays here, are objects of the same bytes; and there are no others."""
        run = self.folder / "runs" / name
        here = {str(file.relative_to(run)): file.read_bytes() for file in run.rglob("*")
                if file.is_file() and file.suffix not in (".lock", ".tmp")}
        there = {key.removeprefix(prefix + "/"): content for key, content in self.bucket.objects(prefix + "/").items()
                 if not key.endswith("/")}  # who asks for something makes the folder that requests lie in
        self.assertEqual(set(here), set(there))
        self.assertEqual([name for name in here if here[name] != there[name]], [])

    def test_googles_buckets_have_their_own_scheme_and_keys(self):
        self.run_training("first")
        for name in [name for name in self.environment if name.startswith("AWS_")]:
            del self.environment[name]
        self.environment["TRAINWARDEN_GS_ENDPOINT_URL"] = f"http://127.0.0.1:{self.bucket.port}"
        _, errors = self.run_cli("show", "gs://bucket/google/first", code=1)
        self.assertIn("gcloud storage hmac create", errors)
        self.environment.update(TRAINWARDEN_GS_ACCESS_KEY_ID=self.bucket.key, TRAINWARDEN_GS_SECRET_ACCESS_KEY=self.bucket.secret)
        self.run_cli("mirror", "first", "gs://bucket/google/")
        here, there = self.json("show", "first"), self.json("show", "gs://bucket/google/first")
        self.assertEqual(here["last_complete_step"], there["last_complete_step"])
        self.assertEqual([run["name"] for run in self.json("ls", "--runs", "gs://bucket/google")["runs"]], ["first"])
        _, errors = self.run_cli("show", "az://container/first", code=1)
        self.assertIn("azcopy", errors)

    def test_a_run_that_is_over_is_copied_and_read_there(self):
        self.run_training("first", "--steps", "20", more=("--rule", "VanishingGradient"))
        out, _ = self.run_cli("mirror", "first", "s3://bucket/over/")
        self.assertTrue(out.startswith("s3://bucket/over/first: all is there, "), out)
        self.same_as_here("first", "over/first")
        self.assertEqual(self.json("mirror", "first", "s3://bucket/over/")["bytes"], 0)
        here, there = self.json("show", "first"), self.json("show", "s3://bucket/over/first")
        for one in (here, there):
            del one["path"]
        self.assertEqual(there["state"], "completed")
        self.assertEqual(there, here)
        self.assertEqual([run["name"] for run in self.json("ls", "--runs", "s3://bucket/over")["runs"]], ["first"])
        here, there = (self.json("value", run, "conv0.weight", "--step", "5") for run in ("first", "s3://bucket/over/first"))
        self.assertEqual(here | {"run": ""}, there | {"run": ""})
        self.assertEqual(self.run_cli("doctor", "s3://bucket/over/first")[1], "")
        self.run_cli("rules", "s3://bucket/over/first")
        self.run_cli("diagnose", "s3://bucket/over/first")
        self.run_cli("export", "s3://bucket/over/first", "--to", "csv", "out.csv")
        self.assertIn("accuracy", (self.folder / "out.csv").read_text())

    def test_a_run_is_seen_there_while_it_is_written(self):
        process = self.start("run", "--no-sample", "--name", "live", "--mirror", "s3://bucket/live/", "--", TINY_TRAINING,
                             "--until-stopped")
        self.wait_for(lambda: "live/live/run.json" in self.bucket.objects("live/"))
        self.wait_for(lambda: self.json("show", "s3://bucket/live/live")["last_complete_step"] > 0)
        first = self.json("show", "s3://bucket/live/live")
        self.assertEqual(first["state"], "running")
        # What is on the disk now is there three seconds later, at a margin for a machine that is busy.
        step = self.json("show", "live")["last_complete_step"]
        began = time.monotonic()
        self.wait_for(lambda: self.json("show", "s3://bucket/live/live")["last_complete_step"] >= step)
        print(f"a step was seen in the bucket {time.monotonic() - began:.1f} s after it was on the disk")
        self.run_cli("stop", "live")
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("kept in s3://bucket/live/live too", errors)
        self.same_as_here("live", "live/live")
        self.assertIn(self.json("show", "s3://bucket/live/live")["state"], ("completed", "stopped"))

    def test_a_training_does_not_wait_for_a_network_that_is_away(self):
        self.bucket.pause()
        try:
            process = self.start("run", "--no-sample", "--name", "away", "--mirror", "s3://bucket/away/", "--",
                                 TINY_TRAINING, "--steps", "200")
            self.wait_for(lambda: (self.folder / "runs/away/journal/rank-00000").exists())
            self.wait_for(lambda: self.json("show", "away")["state"] == "completed")
            self.assertIsNone(process.poll())  # it tries to send the rest
        finally:
            self.bucket.go_on()
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        self.same_as_here("away", "away/away")

    def test_a_mirror_that_was_killed_goes_on(self):
        training = self.start("run", "--no-sample", "--name", "killed", "--", TINY_TRAINING, "--until-stopped")
        self.wait_for(lambda: (self.folder / "runs/killed/run.json").exists())
        for _ in range(5):
            mirror = self.start("mirror", "killed", "s3://bucket/killed/", "--interval", "100ms")
            time.sleep(0.4)
            mirror.kill()
            mirror.communicate()
        self.run_cli("stop", "killed")
        training.communicate(timeout=60)
        self.run_cli("mirror", "killed", "s3://bucket/killed/")
        self.same_as_here("killed", "killed/killed")

    def test_odd_names_are_signed_as_the_server_does(self):
        self.run_training("first", "--steps", "3")
        place = "s3://bucket/odd a+b&c=d%20~ü'(x)*!"
        self.run_cli("mirror", "first", place + "/")
        self.assertEqual([run["name"] for run in self.json("ls", "--runs", place)["runs"]], ["first"])
        self.assertEqual(self.json("show", place + "/first")["state"], "completed")

    def test_requests_in_the_bucket_reach_a_training_whose_mirror_takes_them(self):
        process = self.start("run", "--no-sample", "--name", "asked", "--mirror", "s3://bucket/asked/", "--mirror-requests",
                             "--", TINY_TRAINING, "--until-stopped")
        self.wait_for(lambda: "asked/asked/run.json" in self.bucket.objects("asked/"))
        self.wait_for(lambda: self.json("show", "s3://bucket/asked/asked")["last_complete_step"] > 0)
        out, _ = self.run_cli("stop", "s3://bucket/asked/asked")
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors + out)
        self.same_as_here("asked", "asked/asked")

    def test_a_network_that_fails_often_loses_nothing(self):
        seed = int(os.environ.get("SEED", time.time_ns() % 100_000))
        print(f"faults of SEED={seed}")
        network = BadNetwork(self.bucket, 0.3, seed)
        self.addCleanup(network.end)
        self.environment.update(AWS_ENDPOINT_URL=f"http://127.0.0.1:{network.port}", AWS_MAX_ATTEMPTS="10")
        self.run_training("faulty", "--steps", "50", "--large", more=("--mirror", f"s3://bucket/faulty-{seed}/"))
        self.same_as_here("faulty", f"faulty-{seed}/faulty")
        there = self.json("show", f"s3://bucket/faulty-{seed}/faulty")
        self.assertEqual(there, self.json("show", "faulty") | {"path": there["path"]})
        self.assertEqual(self.run_cli("doctor", f"s3://bucket/faulty-{seed}/faulty")[1], "")

    def test_mistakes_are_told(self):
        self.run_training("first", "--steps", "3")
        _, errors = self.run_cli("mirror", "first", "elsewhere", code=2)
        self.assertIn("expected s3://BUCKET/PREFIX", errors)
        _, errors = self.run_cli("mirror", "first", "s3://nobody/x", "--patience", "1s", code=1)
        self.assertIn("there is no such bucket", errors)
        _, errors = self.run_cli("show", "s3://bucket/nothing", code=1)
        self.assertIn("no run at s3://bucket/nothing", errors)
        _, errors = self.run_cli("show", "s3://nobody/x", code=1)
        self.assertIn("there is no such bucket", errors)
        endpoint = self.environment["AWS_ENDPOINT_URL"]
        self.environment.update(AWS_ENDPOINT_URL="http://127.0.0.1:1", AWS_MAX_ATTEMPTS="2")
        _, errors = self.run_cli("show", "s3://bucket/nothing", code=1)
        self.assertIn("http://127.0.0.1:1: ", errors)  # and not that there is no run
        self.environment.update(AWS_ENDPOINT_URL=endpoint)
        self.environment["AWS_SECRET_ACCESS_KEY"] = "hidden"
        _, errors = self.run_cli("ls", "--runs", "s3://bucket/x", code=1)
        self.assertIn("the secret key is not that of the key id", errors)
        self.assertNotIn("hidden", errors)
        del self.environment["AWS_SECRET_ACCESS_KEY"]
        self.environment["AWS_EC2_METADATA_DISABLED"] = "true"
        _, errors = self.run_cli("run", "--mirror", "s3://bucket/x", "--", "true", code=1)
        self.assertIn("no credentials for S3", errors)


if __name__ == "__main__":
    if "TRAINWARDEN_MOTO_PYTHON" not in os.environ:
        print("skipped: TRAINWARDEN_MOTO_PYTHON names no Python with moto")
        sys.exit(77)
    if os.environ.get("TRAINWARDEN_S3_SERVER") == "swift" and "TRAINWARDEN_SWIFT_PYTHON" not in os.environ:
        print("skipped: TRAINWARDEN_SWIFT_PYTHON names no Python with swift")
        sys.exit(77)
    TRAINWARDEN, TINY_TRAINING = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
