"""`trainwarden cp` and `sync`, as users have them: there and back, killed in the middle, and read by boto3.

    TRAINWARDEN_MOTO_PYTHON=PYTHON copies_test.py TRAINWARDEN TINY_TRAINING

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
from bucket_server import BucketServer  # noqa: E402

TRAINWARDEN = TINY_TRAINING = ""
MEGABYTE = 1 << 20
CREDENTIALS = pathlib.Path(__file__).resolve().parent.parent / "servers" / "credentials_server.py"


def content(size, seed=1):
    block = bytes((i * 31 + seed * 17 + i // 251) % 256 for i in range(65_521))
    return (block * (size // len(block) + 1))[:size]


class Copies(unittest.TestCase):
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
            AWS_SECRET_ACCESS_KEY=self.bucket.secret, HOME=self._folder.name)

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

    def write(self, path, data):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def here(self, name):
        folder = self.folder / name
        return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}

    def there(self, prefix):
        return {key.removeprefix(prefix + "/"): data for key, data in self.bucket.objects(prefix + "/").items()}

    def test_a_run_goes_there_and_back(self):
        self.run_cli("run", "--no-sample", "--name", "first", "--", TINY_TRAINING, "--steps", "10")
        out, _ = self.run_cli("cp", "first", "s3://bucket/copies/")
        self.assertTrue(out.startswith("s3://bucket/copies/first: "), out)
        self.assertEqual(self.there("copies/first"), self.here("runs/first"))
        self.assertEqual(self.json("cp", "first", "s3://bucket/copies/")["files_copied"], 0)
        self.run_cli("cp", "s3://bucket/copies/first", "back/")
        self.assertEqual(self.here("back/first"), self.here("runs/first"))
        self.assertEqual(self.json("show", "back/first")["state"], "completed")
        self.run_cli("sync", "s3://bucket/copies", "s3://bucket/again")
        self.assertEqual(self.there("again/first"), self.here("runs/first"))
        self.run_cli("sync", "back", "disk")
        self.assertEqual(self.here("disk"), self.here("back"))
        summary = self.json("sync", "--check", "back", "disk")
        self.assertEqual(summary["files_same"], summary["files"])

    def test_single_files(self):
        self.write("model.bin", content(100_000))
        self.run_cli("cp", "model.bin", "s3://bucket/single/")
        self.run_cli("cp", "model.bin", "s3://bucket/single/other")
        self.assertEqual(self.there("single"), {"model.bin": content(100_000), "other": content(100_000)})
        (self.folder / "into").mkdir()
        self.run_cli("cp", "s3://bucket/single/other", "into")
        self.assertEqual(self.here("into"), {"other": content(100_000)})
        _, errors = self.run_cli("cp", "s3://bucket/single/none", "x", code=1)
        self.assertIn("nothing is at s3://bucket/single/none", errors)

    def test_sync_with_delete(self):
        self.write("data/one", b"1")
        self.write("data/deep/two", b"2")
        (self.folder / "data/link").symlink_to("one")
        self.run_cli("sync", "data", "s3://bucket/mirror")
        (self.folder / "data/deep/two").unlink()
        self.write("data/three", b"3")
        out, errors = self.run_cli("sync", "--delete", "--dry-run", "data", "s3://bucket/mirror")
        self.assertEqual(out.splitlines()[:2], ["copy three", "remove deep/two"])
        self.assertIn("1 link was not followed and not copied: link", errors)
        self.assertEqual(set(self.there("mirror")), {"one", "deep/two"})
        summary = self.json("sync", "--delete", "data", "s3://bucket/mirror")
        self.assertEqual((summary["files_copied"], summary["files_removed"], summary["links"]), (1, 1, ["link"]))
        self.assertEqual(self.there("mirror"), {"one": b"1", "three": b"3"})

    def wait_for(self, what, process):
        end = time.monotonic() + 60
        while not what():
            self.assertLess(time.monotonic(), end, "it did not come")
            self.assertIsNone(process.poll(), "it was over before it could be killed")
            time.sleep(0.01)

    def test_an_upload_that_was_killed_is_gone_on_with(self):
        large = content(120 * MEGABYTE + 7)
        self.write("data/large", large)
        words = ("cp", "--connections", "1", "--bandwidth", "40MB/s", "data", "s3://bucket/killed")
        process = self.start(*words)
        self.wait_for(lambda: self.bucket.unfinished_parts("killed/large") >= 2, process)
        process.kill()
        process.communicate()
        parts = self.bucket.unfinished_parts("killed/large")
        self.assertEqual(self.there("killed"), {})
        summary = self.json("cp", "data", "s3://bucket/killed")
        self.assertGreaterEqual(summary["bytes_resumed"], parts * 16 * MEGABYTE)
        self.assertEqual(self.there("killed"), {"large": large})
        self.assertEqual(self.bucket.unfinished_parts("killed/large"), 0)

    def test_what_was_begun_is_removed_where_that_is_asked_for(self):
        self.write("data/large", content(120 * MEGABYTE))
        process = self.start("cp", "--connections", "1", "--bandwidth", "20MB/s", "data", "s3://bucket/left")
        self.wait_for(lambda: self.bucket.unfinished_parts("left/large") >= 1, process)
        process.send_signal(2)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn("1 file not copied: ", errors)
        self.assertIn("--abandon", errors)
        self.assertGreaterEqual(self.bucket.unfinished_parts("left/large"), 1)
        self.assertEqual(self.json("cp", "--abandon", "data", "s3://bucket/left")["unfinished_ended"], 1)
        self.assertEqual(self.bucket.unfinished_parts("left/large"), 0)

    def test_a_download_that_was_killed_is_gone_on_with(self):
        large = content(120 * MEGABYTE + 7, 2)
        self.write("data/large", large)
        self.run_cli("cp", "data", "s3://bucket/down")
        process = self.start("cp", "--connections", "1", "--bandwidth", "40MB/s", "s3://bucket/down", "back")
        half = lambda: [file.stat().st_size for file in (self.folder / "back").glob(".large.*.trainwarden-part")]
        self.wait_for(lambda: sum(half()) >= 24 * MEGABYTE, process)
        process.kill()
        process.communicate()
        self.assertFalse((self.folder / "back/large").exists())
        there = sum(half())
        summary = self.json("cp", "s3://bucket/down", "back")
        self.assertGreaterEqual(summary["bytes_resumed"], there - 8 * MEGABYTE)
        self.assertEqual(self.here("back"), {"large": large})

    def test_memory_does_not_follow_the_size_of_a_file(self):
        self.write("small/file", content(40 * MEGABYTE))
        self.write("large/file", content(240 * MEGABYTE))
        peaks = {}
        for name in ("small", "large"):
            code = ("import resource, subprocess, sys\n"
                    "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
            words = [sys.executable, "-c", code, TRAINWARDEN, "cp", "--connections", "2", name, f"s3://bucket/memory/{name}"]
            peaks[name] = int(subprocess.run(words, cwd=self.folder, env=self.environment, check=True, capture_output=True,
                                             text=True).stdout)
        print(f"peak memory in KiB: {peaks}")
        self.assertLess(peaks["large"], peaks["small"] + 20_000)
        self.assertLess(peaks["large"], 120_000)

    def test_credentials_are_renewed_while_a_copy_is_under_way(self):
        record = self.folder / "asked"
        # They expire in 303 s, and are renewed five minutes before.
        words = [sys.executable, CREDENTIALS, "--record", record, "--key", self.bucket.key, "--secret", self.bucket.secret,
                 "--lifetime", "303", "--no-session"]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        port = server.stdout.readline().split()[1]
        del self.environment["AWS_ACCESS_KEY_ID"], self.environment["AWS_SECRET_ACCESS_KEY"]
        self.environment.update(AWS_CONTAINER_CREDENTIALS_FULL_URI=f"http://127.0.0.1:{port}/container",
                                AWS_CONTAINER_AUTHORIZATION_TOKEN="open sesame")
        self.write("data/large", content(60 * MEGABYTE))
        self.run_cli("cp", "--bandwidth", "10MB/s", "data", "s3://bucket/renewed")
        self.assertEqual(self.there("renewed"), {"large": content(60 * MEGABYTE)})
        self.assertGreaterEqual(len(record.read_text().splitlines()), 3)

    def test_a_web_identity_becomes_a_role(self):
        del self.environment["AWS_ACCESS_KEY_ID"], self.environment["AWS_SECRET_ACCESS_KEY"]
        self.environment.update(AWS_WEB_IDENTITY_TOKEN_FILE=str(self.folder / "token"),
                                AWS_ROLE_ARN="arn:aws:iam::123456789012:role/trainer", AWS_ROLE_SESSION_NAME="copies")
        self.write("data/one", b"1")
        _, errors = self.run_cli("cp", "data", "s3://bucket/role", code=1)
        self.assertIn("AWS_WEB_IDENTITY_TOKEN_FILE names ", errors)
        self.write("token", b"eyJhbGciOiJSUzI1NiJ9.any.any")
        self.run_cli("cp", "data", "s3://bucket/role")
        self.assertEqual(self.there("role"), {"one": b"1"})

    def test_a_copy_from_amazons_to_googles_has_the_keys_of_both(self):
        self.write("data/one", b"1")
        self.run_cli("cp", "data", "s3://bucket/both")
        self.environment["TRAINWARDEN_GS_ENDPOINT_URL"] = f"http://127.0.0.1:{self.bucket.port}"
        _, errors = self.run_cli("cp", "s3://bucket/both", "gs://bucket/google", code=1)
        self.assertIn("TRAINWARDEN_GS_ACCESS_KEY_ID", errors)
        self.environment.update(TRAINWARDEN_GS_ACCESS_KEY_ID=self.bucket.key, TRAINWARDEN_GS_SECRET_ACCESS_KEY=self.bucket.secret)
        self.run_cli("cp", "s3://bucket/both", "gs://bucket/google")
        self.assertEqual(self.there("google"), {"one": b"1"})

    def test_bandwidth_is_kept(self):
        self.write("data/file", content(12 * MEGABYTE))
        began = time.monotonic()
        self.run_cli("cp", "--bandwidth", "4MB/s", "data", "s3://bucket/slow")
        seconds = time.monotonic() - began
        print(f"12 MiB at 4 MiB/s took {seconds:.1f} s")
        self.assertGreater(seconds, 2.4)

    def test_mistakes_are_told(self):
        self.write("data/one", b"1")
        for words, code, text in (
                (("cp", "nothing", "s3://bucket/x"), 1, "nothing is at nothing"),
                (("cp", "data", "ftp://host/x"), 1, "expected a path, s3://BUCKET/PREFIX or gs://BUCKET/PREFIX, found ftp://"),
                (("cp", "data", "data/in"), 2, "expected two places apart"),
                (("sync", "data/one", "x"), 2, "is a file; expected a folder"),
                (("cp", "--bandwidth", "fast", "data", "x"), 2, "expected a speed such as 10MB/s"),
                (("cp", "data", "s3://nobody/x"), 1, "there is no such bucket")):
            _, errors = self.run_cli(*words, code=code)
            self.assertIn(text, errors)
        self.environment["AWS_SECRET_ACCESS_KEY"] = "hidden"
        _, errors = self.run_cli("cp", "data", "s3://bucket/x", code=1)
        self.assertIn("the secret key is not that of the key id", errors)
        self.assertNotIn("hidden", errors)


if __name__ == "__main__":
    if "TRAINWARDEN_MOTO_PYTHON" not in os.environ:
        print("skipped: TRAINWARDEN_MOTO_PYTHON names no Python with moto")
        sys.exit(77)
    if os.environ.get("TRAINWARDEN_S3_SERVER") == "swift" and "TRAINWARDEN_SWIFT_PYTHON" not in os.environ:
        print("skipped: TRAINWARDEN_SWIFT_PYTHON names no Python with swift")
        sys.exit(77)
    TRAINWARDEN, TINY_TRAINING = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
