"""Jobs whose inputs, outputs and checkpoints lie in buckets: run, stopped, killed, and without a network at their end.

    TRAINWARDEN_MOTO_PYTHON=PYTHON bucket_jobs_test.py TRAINWARDEN TINY_TRAINING

PYTHON has moto, whose server of S3 this starts.
"""
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "servers"))
from bucket_server import BucketServer  # noqa: E402

TRAINWARDEN = TINY_TRAINING = ""
MEGABYTE = 1 << 20


class BucketJobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bucket = BucketServer()

    @classmethod
    def tearDownClass(cls):
        cls.bucket.end()

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.folder = pathlib.Path(self._folder.name)
        self.addCleanup(self._folder.cleanup)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "TRAINWARDEN"))}
        self.environment.update(
            AWS_ENDPOINT_URL=f"http://127.0.0.1:{self.bucket.port}", AWS_ACCESS_KEY_ID=self.bucket.key,
            AWS_SECRET_ACCESS_KEY=self.bucket.secret, HOME=self._folder.name, TRAINWARDEN_RUNS=str(self.folder / "runs"),
            TRAINWARDEN_JOBS=str(self.folder / "jobs"))

    def run_cli(self, *words, code=0):
        process = subprocess.run([TRAINWARDEN, *words], cwd=self.folder, env=self.environment, text=True, capture_output=True,
                                 timeout=120)
        self.assertEqual(process.returncode, code, f"{words}\n{process.stdout}{process.stderr}")
        return process.stdout, process.stderr

    def json(self, *words, code=0):
        return json.loads(self.run_cli(*words, "--json", code=code)[0])

    def submit(self, name, script, *more, code=0, wait=True, outputs="out", **fields):
        spec = {"name": name, "program": ["sh", "-c", script], "output_dir": f"s3://bucket/{outputs}"} | fields
        (self.folder / f"{name}.json").write_text(json.dumps(spec))
        return self.run_cli("submit", f"{name}.json", *(["--wait"] if wait else []), *more, code=code)

    def put(self, path, data):
        file = self.folder / "put" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        self.run_cli("cp", str(file), f"s3://bucket/{path}")

    def packed(self, data):
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            return {name.removeprefix("./"): archive.extractfile(name).read() for name in archive.getnames()
                    if archive.getmember(name).isfile()}

    def wait_for(self, what, seconds=60):
        end = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), end, "it did not come")
            time.sleep(0.05)

    def phase(self, name):
        return self.json("job", "describe", name)["secondary_status"]

    def test_inputs_come_and_outputs_go(self):
        self.put("data/train/deep/one", b"first")
        self.put("data/train/two", b"second")
        self.put("data/single.csv", b"1,2,3")
        self.submit("one", f"{TINY_TRAINING} --steps 5; "
                           "cat $SM_CHANNEL_TRAIN/deep/one $SM_CHANNEL_TRAIN/two $SM_CHANNEL_CSV/single.csv > $SM_MODEL_DIR/m; "
                           "echo note > $SM_OUTPUT_DATA_DIR/o; echo 7 > $TRAINWARDEN_CHECKPOINT_DIR/step",
                    inputs={"train": "s3://bucket/data/train/", "csv": {"source": "s3://bucket/data/single.csv", "mode": "FastFile"}},
                    checkpoints={"path": "s3://bucket/checkpoints/one"})
        there = self.bucket.objects("out/one/")
        self.assertEqual(self.packed(there["out/one/output/model.tar.gz"]), {"m": b"firstsecond1,2,3"})
        self.assertEqual(self.packed(there["out/one/output/output.tar.gz"]), {"o": b"note\n"})
        run = {str(file.relative_to(self.folder / "runs/one")): file.read_bytes() for file in (self.folder / "runs/one").rglob("*")
               if file.is_file() and file.suffix not in (".lock", ".tmp")}
        self.assertIn("run.json", run)
        self.assertEqual({key.removeprefix("out/one/debug-output/"): data for key, data in there.items() if "/debug-output/" in key},
                         run)
        self.assertEqual(self.bucket.objects("checkpoints/one/"), {"checkpoints/one/step": b"7\n"})
        # Another job goes on from there.
        self.submit("two", "cat $TRAINWARDEN_CHECKPOINT_DIR/step > $SM_MODEL_DIR/m", checkpoints={"path": "s3://bucket/checkpoints/one"})
        self.assertEqual(self.packed(self.bucket.objects("out/two/")["out/two/output/model.tar.gz"]), {"m": b"7\n"})

    def test_checkpoints_are_kept_while_it_runs_and_when_it_is_stopped(self):
        self.submit("runs", "echo 1 > $TRAINWARDEN_CHECKPOINT_DIR/step; trap 'echo 2 > $TRAINWARDEN_CHECKPOINT_DIR/step; exit 0' TERM; "
                            "while :; do sleep 0.1; done", wait=False, checkpoints={"path": "s3://bucket/checkpoints/runs"})
        self.wait_for(lambda: self.bucket.objects("checkpoints/runs/") == {"checkpoints/runs/step": b"1\n"})
        self.assertEqual(self.phase("runs"), "Training")
        self.run_cli("job", "stop", "runs")
        self.run_cli("job", "wait", "runs", code=1)
        self.assertEqual(self.bucket.objects("checkpoints/runs/"), {"checkpoints/runs/step": b"2\n"})

    def test_an_agent_that_was_killed_while_it_sends_goes_on(self):
        # So slow that it can be killed: the job's own setting.
        config = self.folder / "config"
        config.write_text("[default]\ns3 =\n  max_bandwidth = 4MB/s\n")
        self.submit("killed", "head -c 80000000 /dev/urandom > $SM_MODEL_DIR/m; sha256sum < $SM_MODEL_DIR/m > digest; exit 0",
                    wait=False, environment={"AWS_CONFIG_FILE": str(config)})
        key = "out/killed/output/model.tar.gz"
        self.wait_for(lambda: self.bucket.unfinished_parts(key) >= 1)
        agents = [int(pid.name) for pid in pathlib.Path("/proc").glob("[0-9]*") if self.is_agent_of(pid, "killed")]
        self.assertEqual(len(agents), 1)
        os.kill(agents[0], signal.SIGKILL)
        self.run_cli("job", "wait", "killed")
        model = self.packed(self.bucket.objects("out/killed/output/")[key])["m"]
        self.assertEqual(len(model), 80_000_000)
        self.assertEqual(model, (self.folder / "jobs/killed/ml/model/m").read_bytes())
        self.assertEqual(self.bucket.unfinished_parts(key), 0)

    def is_agent_of(self, pid, name):
        try:
            words = (pid / "cmdline").read_bytes().split(b"\0")
            return b"agent" in words and name.encode() in b" ".join(words) and str(self.folder).encode() in (
                pid / "environ").read_bytes()
        except OSError:
            return False

    def test_results_that_could_not_be_sent_are_not_lost(self):
        # Its bucket is gone when it ends.
        _, errors = self.submit("lost", "echo model > $SM_MODEL_DIR/m", code=1, hook=False, output_dir="s3://gone/out")
        described = self.json("job", "describe", "lost")
        self.assertEqual(described["status"], "Failed")
        self.assertIn("its results are not stored: its results: ", described["message"])
        self.assertIn("`trainwarden job upload` sends them again", described["message"])
        self.assertTrue((self.folder / "jobs/lost/output/model.tar.gz").exists())
        _, errors = self.run_cli("job", "upload", "lost", code=1)
        self.assertIn("there is no such bucket", errors)
        self.bucket.create("gone")
        self.run_cli("job", "upload", "lost")
        self.run_cli("cp", "s3://gone/out/lost/output/model.tar.gz", "back.tar.gz")
        self.assertEqual(self.packed((self.folder / "back.tar.gz").read_bytes()), {"m": b"model\n"})

    def test_a_job_can_be_stopped_while_its_inputs_come(self):
        self.put("slow/file", bytes(40 * MEGABYTE))
        config = self.folder / "config"
        config.write_text("[default]\ns3 =\n  max_bandwidth = 256KB/s\n")
        self.submit("slow", "true", wait=False, inputs={"train": "s3://bucket/slow"}, environment={"AWS_CONFIG_FILE": str(config)})
        self.wait_for(lambda: list((self.folder / "jobs/slow/fetched/train").glob(".file.*")))
        self.assertEqual(self.phase("slow"), "Downloading")
        self.run_cli("job", "stop", "slow")
        self.run_cli("job", "wait", "slow", code=1)
        self.assertEqual(self.phase("slow"), "Stopped")

    def request(self, name, script, **fields):
        (self.folder / "train.py").write_text(script)
        asked = {"TrainingJobName": name, "HyperParameters": {"sagemaker_program": json.dumps(str(self.folder / "train.py"))},
                 "StoppingCondition": {"MaxRuntimeInSeconds": 60}} | fields
        (self.folder / f"{name}.json").write_text(json.dumps(asked))
        return self.run_cli("submit", f"{name}.json", "--format", "sagemaker", "--wait")

    def test_a_requests_run_and_board_are_where_it_says(self):
        _, errors = self.request(
            "asked", f"import subprocess; subprocess.run([{TINY_TRAINING!r}, '--steps', '5'], check=True)",
            OutputDataConfig={"S3OutputPath": "s3://bucket/asked-results"}, DebugHookConfig={"S3OutputPath": "s3://bucket/tensors/"},
            TensorBoardOutputConfig={"S3OutputPath": "s3://bucket/boards"})
        self.assertNotIn("warning", errors)
        self.assertIn("tensors/asked/debug-output/run.json", self.bucket.objects("tensors/"))
        boards = self.bucket.objects("boards/")
        self.assertTrue(all(key.startswith("boards/asked/") for key in boards), boards.keys())
        here = {f"boards/{file.relative_to(self.folder / 'jobs/asked/tensorboard')}": file.read_bytes()
                for file in (self.folder / "jobs/asked/tensorboard/asked").rglob("*") if file.is_file()}
        self.assertTrue(any("tfevents" in key and len(data) > 100 for key, data in boards.items()), boards.keys())
        self.assertEqual(boards, here)
        self.assertEqual([key for key in self.bucket.objects("asked-results/") if "debug-output" in key], [])
        shown, here = (self.json("show", place) for place in ("s3://bucket/tensors/asked/debug-output", str(self.folder / "runs/asked")))
        self.assertEqual((shown["state"], shown["id"], shown["last_complete_step"]),
                         ("completed", here["id"], here["last_complete_step"]))
        described = self.json("job", "describe", "asked", "--format", "sagemaker")
        self.assertEqual(described["DebugHookConfig"]["S3OutputPath"], "s3://bucket/tensors/")
        self.assertEqual(described["TensorBoardOutputConfig"]["S3OutputPath"], "s3://bucket/boards")

    def test_a_job_says_where_its_run_and_board_are_kept(self):
        script = f"{TINY_TRAINING} --steps 5; while [ ! -e {self.folder}/go ]; do sleep 0.1; done"
        self.submit("kept", script, wait=False, output_dir="results", mirror="s3://bucket/mirrors", tensorboard="s3://bucket/shown")
        self.wait_for(lambda: "mirrors/kept/debug-output/run.json" in self.bucket.objects("mirrors/"))
        self.wait_for(lambda: self.bucket.objects("shown/kept/"))
        self.assertEqual(self.phase("kept"), "Training")
        (self.folder / "go").touch()
        self.run_cli("job", "wait", "kept")
        self.assertEqual(sorted(self.bucket.objects("shown/")), sorted(self.bucket.objects("shown/kept/")))
        described = self.json("job", "describe", "kept", "--format", "sagemaker")
        self.assertEqual(described["DebugHookConfig"]["S3OutputPath"], "s3://bucket/mirrors")
        self.assertEqual(described["TensorBoardOutputConfig"]["S3OutputPath"], "s3://bucket/shown")
        # A folder of this machine.
        self.submit("local", f"{TINY_TRAINING} --steps 5", output_dir="results", tensorboard="boards")
        self.assertTrue(list((self.folder / "boards/local").rglob("*tfevents*")))

    def test_a_mirror_is_in_a_bucket(self):
        _, errors = self.submit("here", "true", code=2, mirror="results")
        self.assertIn('mirror: expected s3://BUCKET/PREFIX or gs://BUCKET/PREFIX, found "results"', errors)
        self.environment["TRAINWARDEN_BUCKETS"] = str(self.folder)
        _, errors = self.submit("folder", "true", code=2, mirror="s3://bucket/mirrors")
        self.assertIn("TRAINWARDEN_BUCKETS makes a folder of s3://bucket/mirrors", errors)

    def test_mistakes_are_told(self):
        _, errors = self.submit("bad", "true", code=2, output_dir="s3://b/x")
        self.assertIn("expected s3://BUCKET/PREFIX", errors)
        self.submit("none", "true", code=1, inputs={"train": "s3://bucket/nothing"})
        self.assertIn("inputs: train: nothing is at s3://bucket/nothing", self.json("job", "describe", "none")["message"])
        del self.environment["AWS_SECRET_ACCESS_KEY"]
        self.environment["AWS_EC2_METADATA_DISABLED"] = "true"
        _, errors = self.submit("nobody", "true", code=2)
        self.assertIn("no credentials for S3", errors)


if __name__ == "__main__":
    if "TRAINWARDEN_MOTO_PYTHON" not in os.environ:
        print("skipped: TRAINWARDEN_MOTO_PYTHON names no Python with moto")
        sys.exit(77)
    TRAINWARDEN, TINY_TRAINING = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
