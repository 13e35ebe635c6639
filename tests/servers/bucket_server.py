"""A server of S3 for tests of the Python packages: moto's, with the bucket "bucket". TRAINWARDEN_MOTO_PYTHON names the Python
that has moto.

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
from pathlib import Path

_SERVER = Path(__file__).with_name("s3_server.py")
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
for line in sys.stdin:
    call, *words = json.loads(line)
    print(json.dumps({"objects": objects, "put": put}[call](*words)), flush=True)
"""


class BucketServer:
    def __init__(self) -> None:
        python = os.environ["TRAINWARDEN_MOTO_PYTHON"]
        self._process = subprocess.Popen([python, str(_SERVER)], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        _, port, self.key, self.secret = self._process.stdout.readline().split()
        self.port = int(port)
        self._boto3 = subprocess.Popen(
            [python, "-c", _BOTO3, f"http://127.0.0.1:{port}", self.key, self.secret],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> BucketServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.go_on()
        for process in (self._boto3, self._process):
            process.kill()
            process.communicate()

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

    def put(self, key: str, content: bytes) -> None:
        self._ask("put", key, base64.b64encode(content).decode())

    def put_folder(self, prefix: str, folder: Path) -> None:
        """As `aws s3 cp --recursive` does."""
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            self.put(f"{prefix}/{file.relative_to(folder)}", file.read_bytes())

    def pause(self) -> None:
        """From now on it answers nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def _ask(self, *call: str) -> dict[str, str]:
        assert self._boto3.stdin is not None and self._boto3.stdout is not None
        self._boto3.stdin.write(json.dumps(call) + "\n")
        self._boto3.stdin.flush()
        answer: dict[str, str] = json.loads(self._boto3.stdout.readline())
        return answer


def needs_moto() -> str:
    """Why tests with such a server are skipped; empty: they are not."""
    return "" if os.environ.get("TRAINWARDEN_MOTO_PYTHON") else "set TRAINWARDEN_MOTO_PYTHON to a Python that has moto"
