"""`trainwarden export` to a bucket and `import` from one: whole, refused, ended in the middle, and nothing left behind here.

    TRAINWARDEN_MOTO_PYTHON=PYTHON bucket_exports_test.py TRAINWARDEN TINY_TRAINING

PYTHON has moto, whose server of S3 this starts.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "servers"))
from bucket_server import BucketServer  # noqa: E402

TRAINWARDEN = TINY_TRAINING = ""
TRACE = {"traceEvents": [
    {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": 10**15 + step * 1000, "dur": 900,
     "args": {}} for step in range(2)] + [
    {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 10**15 + step * 1000 + 10, "dur": 100, "args": {}}
    for step in range(2)]}


def without_seconds(names):
    """Sorted; files of TensorBoard are named by the second in which they are made."""
    return sorted(re.sub(r"(?<=tfevents\.)\d+", "", name) for name in names)


class BucketExports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bucket = BucketServer()
        cls._shared = tempfile.TemporaryDirectory()
        cls.runs = pathlib.Path(cls._shared.name) / "runs"
        subprocess.run([TRAINWARDEN, "run", "--runs", str(cls.runs), "--name", "first", "--", TINY_TRAINING, "--steps", "20",
                        "--large"], check=True, capture_output=True)
        trace = pathlib.Path(cls._shared.name) / "trace.json"
        trace.write_text(json.dumps(TRACE))
        subprocess.run([TRAINWARDEN, "import", str(trace), "--out", str(cls.runs / "traced")], check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.bucket.end()
        cls._shared.cleanup()

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._folder.name)
        self.addCleanup(self._folder.cleanup)
        self.meanwhile = self.folder / "meanwhile"
        self.meanwhile.mkdir()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "TRAINWARDEN"))}
        self.environment.update(self.bucket.environment(), HOME=self._folder.name, TRAINWARDEN_RUNS=str(self.runs),
                                TMPDIR=str(self.meanwhile))
        self.prefix = self.id().rpartition(".")[2]

    def tearDown(self):
        self.assertEqual(list(self.meanwhile.iterdir()), [], "something is left behind")

    def start(self, *words):
        return subprocess.Popen([TRAINWARDEN, *words], cwd=self.folder, env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_cli(self, *words, code=0):
        process = self.start(*words)
        out, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, f"{words}\n{out}{errors}")
        return out, errors

    def json(self, *words, code=0):
        return json.loads(self.run_cli(*words, "--json", code=code)[0])

    def address(self, path):
        return f"s3://bucket/{self.prefix}/{path}"

    def there(self, path=""):
        """The object of this name alone, or those in the folder."""
        place = f"{self.prefix}/{path}"
        return {key.removeprefix(place).lstrip("/"): data for key, data in self.bucket.objects(place).items()
                if key == place or key.startswith(place.rstrip("/") + "/")}

    def here(self, path):
        place = self.folder / path
        if place.is_file():
            return {"": place.read_bytes()}
        return {str(file.relative_to(place)): file.read_bytes() for file in place.rglob("*") if file.is_file()}

    def test_every_format(self):
        traces = ["chrome-trace", "perfetto", "speedscope", "collapsed"]
        formats = ["smdebug", "tensorboard", "safetensors", "npz", "csv", "json", "mcap", "parquet", "page", "smdebug-profiler"]
        # What has the time of the export, or names that are made anew.
        differs = {"smdebug", "tensorboard", "page", "smdebug-profiler", "mcap"}
        for form in formats + traces:
            with self.subTest(form):
                run = "traced" if form in traces else "first"
                self.run_cli("export", run, form, "--to", form)
                out, _ = self.run_cli("export", run, self.address(form), "--to", form)
                self.assertTrue(out.startswith(f"{self.address(form)}: "), out)
                self.assertNotIn(str(self.meanwhile), out)
                here = {name: data for name, data in self.here(form).items() if not name.startswith(".trainwarden")}
                there = self.there(form)
                self.assertTrue(any(there.values()))
                self.assertEqual(without_seconds(there), without_seconds(here))
                if form not in differs:
                    self.assertEqual(there, here)
                self.assertEqual(list(self.meanwhile.iterdir()), [])
        self.assertEqual(self.json("export", "first", self.address("again.csv"), "--to", "csv")["out"], self.address("again.csv"))
        self.assertEqual(self.there("again.csv"), self.there("csv"))

    def test_what_is_there_is_safe(self):
        self.bucket.put(f"{self.prefix}/loss.csv", b"mine")
        self.bucket.put(f"{self.prefix}/arrays/mine", b"mine")
        for form, name in (("csv", "loss.csv"), ("npz", "arrays"), ("npz", "arrays/")):
            _, errors = self.run_cli("export", "first", self.address(name), "--to", form, code=1)
            self.assertIn(f"something is at {self.address(name)} already; --force", errors)
        self.assertEqual(set(self.there().values()), {b"mine"})
        for form, name in (("csv", "loss.csv"), ("npz", "arrays")):
            self.run_cli("export", "first", self.address(name), "--to", form, "--force")
        self.assertNotEqual(self.there("loss.csv"), {"": b"mine"})
        self.assertGreater(len(self.there("arrays")), 1)
        self.assertEqual(self.there("arrays")["mine"], b"mine")

    def test_mistakes_are_told(self):
        for address, what in (("s3://bucket", "expected the name of what is written too"),
                              ("s3://bucket/a/", "expected the name of what is written too"),
                              ("s3://nowhere/a", "there is no such bucket")):
            _, errors = self.run_cli("export", "first", address, "--to", "csv", code=2 if "name" in what else 1)
            self.assertIn(what, errors)
        _, errors = self.run_cli("export", "none", self.address("a"), "--to", "csv", code=1)
        self.assertNotIn("meanwhile", errors)
        self.environment.pop("AWS_SECRET_ACCESS_KEY")
        self.environment["AWS_EC2_METADATA_DISABLED"] = "true"
        _, errors = self.run_cli("export", "first", self.address("a"), "--to", "csv", code=1)
        self.assertIn("no credentials for S3", errors)

    def slowly(self, speed="2KB/s"):
        config = self.folder / "config"
        config.write_text(f"[default]\ns3 =\n  max_bandwidth = {speed}\n")
        self.environment["AWS_CONFIG_FILE"] = str(config)

    def ended_in_the_middle(self, number, *words):
        process = self.start(*words)
        end = time.monotonic() + 60
        while not any(file.is_file() for file in self.meanwhile.rglob("*")):
            self.assertLess(time.monotonic(), end, "it did not begin")
            time.sleep(0.01)
        time.sleep(0.3)
        self.assertIsNone(process.poll(), "it was over before it could be ended")
        self.assertTrue(list(self.meanwhile.iterdir()))
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        return errors

    def test_an_export_that_is_ended_leaves_nothing(self):
        self.slowly()
        for number in (signal.SIGINT, signal.SIGTERM):
            self.ended_in_the_middle(number, "export", "first", self.address("all.json"), "--to", "json")
            self.assertEqual(self.there(), {})

    def test_an_import_that_is_ended_leaves_nothing(self):
        (self.folder / "trace.json").write_bytes(bytes(40 << 20))
        self.run_cli("cp", "trace.json", self.address("trace.json"))
        self.slowly("256KB/s")
        self.ended_in_the_middle(signal.SIGINT, "import", self.address("trace.json"), "--out", "new")
        self.assertFalse((self.folder / "new").exists())

    def test_imports(self):
        self.run_cli("export", "first", self.address("job/tensors"), "--to", "smdebug")
        self.run_cli("export", "first", self.address("job/profiler-output"), "--to", "smdebug-profiler")
        self.run_cli("export", "first", "tensors", "--to", "smdebug")
        self.bucket.put(f"{self.prefix}/trace.json", json.dumps(TRACE).encode())
        tensors = self.json("import", self.address("job/tensors/"), "--out", "one")
        self.assertEqual((tensors["steps"], tensors["losses"]), (20, []))
        self.assertEqual(tensors["records"], self.json("import", "tensors", "--out", "two")["records"])
        self.assertGreater(self.json("import", self.address("job/profiler-output"), "--out", "three")["samples"], 0)
        self.assertEqual(self.json("import", self.address("trace.json"), "--out", "four")["steps"], 2)
        for run, source in (("one", self.address("job/tensors/")), ("three", self.address("job/profiler-output")),
                            ("four", self.address("trace.json")), ("two", str(self.folder / "tensors"))):
            self.assertEqual(self.json("show", f"./{run}")["labels"]["imported_from"], source)
        self.run_cli("import", self.address("job/tensors"), "--runs", "here")
        self.assertTrue((self.folder / "here/tensors/run.json").exists())
        _, errors = self.run_cli("import", self.address("none"), "--out", "five", code=1)
        self.assertIn(f"nothing is at {self.address('none')}", errors)

    def test_buckets_that_are_folders(self):
        self.environment["TRAINWARDEN_BUCKETS"] = str(self.folder / "buckets")
        (self.folder / "buckets/bucket").mkdir(parents=True)
        self.run_cli("export", "first", "s3://bucket/tensors", "--to", "smdebug")
        self.assertTrue((self.folder / "buckets/bucket/tensors/collections").is_dir())
        self.assertEqual(self.json("import", "s3://bucket/tensors", "--out", "new")["steps"], 20)


if __name__ == "__main__":
    if "TRAINWARDEN_MOTO_PYTHON" not in os.environ:
        print("skipped: TRAINWARDEN_MOTO_PYTHON names no Python with moto")
        sys.exit(77)
    TRAINWARDEN, TINY_TRAINING = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
