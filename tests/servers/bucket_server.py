"""A server of S3 for tests in Python, with the bucket "bucket": moto's, or Swift's where TRAINWARDEN_S3_SERVER is "swift"; what
boto3 finds in it; and a network that fails before it. TRAINWARDEN_MOTO_PYTHON names the Python that has moto and boto3,
TRAINWARDEN_SWIFT_PYTHON the one that has Swift.

    with BucketServer() as server:
        server.put_folder("runs/first", folder)      # as boto3 writes
        server.objects("runs/first/")                # as boto3 reads
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SERVERS = Path(__file__).parent
# Runs there: reads requests, one a line, and answers each with a line.
_BOTO3 = """
import base64, json, sys, boto3
client = boto3.client("s3", endpoint_url=sys.argv[1], region_name="us-east-1", aws_access_key_id=sys.argv[2],
                      aws_secret_access_key=sys.argv[3])
def objects(prefix):
    pages = client.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix=prefix)
    keys = [item["Key"] for page in pages for item in page.get("Contents", ())]
    read = lambda key: client.get_object(Bucket="bucket", Key=key)["Body"].read()
    return {key: base64.b64encode(read(key)).decode() for key in keys}
def put(key, content):
    client.put_object(Bucket="bucket", Key=key, Body=base64.b64decode(content))
def create(name):
    client.create_bucket(Bucket=name)
def unfinished_parts(key):
    uploads = client.list_multipart_uploads(Bucket="bucket", Prefix=key).get("Uploads", ())
    return sum(len(client.list_parts(Bucket="bucket", Key=key, UploadId=one["UploadId"]).get("Parts", ()))
               for one in uploads if one["Key"] == key)
for line in sys.stdin:
    call, *words = json.loads(line)
    answer = {"objects": objects, "put": put, "create": create, "unfinished_parts": unfinished_parts}[call](*words)
    print(json.dumps(answer), flush=True)
"""


class BucketServer:
    def __init__(self) -> None:
        python = os.environ["TRAINWARDEN_MOTO_PYTHON"]
        words = [python, str(_SERVERS / "s3_server.py")]
        self._folder = tempfile.TemporaryDirectory()
        if os.environ.get("TRAINWARDEN_S3_SERVER") == "swift":
            words = [os.environ["TRAINWARDEN_SWIFT_PYTHON"], str(_SERVERS / "swift_server.py"), self._folder.name]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        _, port, self.key, self.secret = self._process.stdout.readline().split()
        self.port = int(port)
        self._boto3 = subprocess.Popen(
            [python, "-c", _BOTO3, f"http://127.0.0.1:{port}", self.key, self.secret],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def await_request(self) -> None:
        """Until a request has come that it does not read, as it is paused."""
        deadline = time.monotonic() + 60
        while not any(self._unread_bytes()):
            assert time.monotonic() < deadline, "no request has come"
            time.sleep(0.005)

    def _unread_bytes(self) -> Iterator[int]:
        """Of each connection to it (proc_net_tcp in the kernel's documentation)."""
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            _, local, _, state, queues, *_ = line.split()
            if int(local.rpartition(":")[2], 16) == self.port and state == "01":
                yield int(queues.rpartition(":")[2], 16)

    def __enter__(self) -> BucketServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        self.go_on()
        for process in (self._boto3, self._process):
            process.kill()
            process.communicate()
        self._folder.cleanup()

    def environment(self) -> dict[str, str]:
        """What leads there."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def objects(self, prefix: str) -> dict[str, bytes]:
        """Key and bytes of each object, as boto3 reads them."""
        return {key: base64.b64decode(content) for key, content in self._ask("objects", prefix).items()}

    def unfinished_parts(self, key: str) -> int:
        """How many parts there are of uploads of this key that have not ended, as boto3 counts them."""
        count: int = self._ask("unfinished_parts", key)
        return count

    def put(self, key: str, content: bytes) -> None:
        self._ask("put", key, base64.b64encode(content).decode())

    def put_folder(self, prefix: str, folder: Path) -> None:
        """As `aws s3 cp --recursive` does."""
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            self.put(f"{prefix}/{file.relative_to(folder)}", file.read_bytes())

    def create(self, name: str) -> None:
        """Another bucket."""
        self._ask("create", name)

    def pause(self) -> None:
        """From now on it answers nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def _ask(self, *call: str) -> Any:
        assert self._boto3.stdin is not None and self._boto3.stdout is not None
        self._boto3.stdin.write(json.dumps(call) + "\n")
        self._boto3.stdin.flush()
        return json.loads(self._boto3.stdout.readline())


class BadNetwork:
    """Spoils a share of the answers of a bucket's server."""

    def __init__(self, server: BucketServer, rate: float, seed: int) -> None:
        words = [sys.executable, str(_SERVERS / "s3_faults.py"), "--upstream", str(server.port), "--rate", str(rate)]
        self._process = subprocess.Popen([*words, "--seed", str(seed)], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline().split()[1])

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


def needs_moto() -> str:
    """Why tests with such a server are skipped; empty: they are not."""
    return "" if os.environ.get("TRAINWARDEN_MOTO_PYTHON") else "set TRAINWARDEN_MOTO_PYTHON to a Python that has moto"
