"""A bucket for tests of the program: moto's server or Swift's (TRAINWARDEN_S3_SERVER=swift), what boto3 finds in it, and a
network that fails before it."""
import base64
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

SERVERS = pathlib.Path(__file__).resolve().parent.parent / "servers"
SWIFT = SERVERS / "swift_server.py"
SERVER, FAULTS = SERVERS / "s3_server.py", SERVERS / "s3_faults.py"


BOTO3 = """
import base64, json, sys, boto3
client = boto3.client("s3", endpoint_url=sys.argv[1], region_name="us-east-1", aws_access_key_id=sys.argv[2],
                      aws_secret_access_key=sys.argv[3])
pages = client.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix=sys.argv[4])
keys = [item["Key"] for page in pages for item in page.get("Contents", ())]
read = lambda key: client.get_object(Bucket="bucket", Key=key)["Body"].read()
print(json.dumps({key: base64.b64encode(read(key)).decode() for key in keys}))
"""


PARTS = """
import sys, boto3
client = boto3.client("s3", endpoint_url=sys.argv[1], region_name="us-east-1", aws_access_key_id=sys.argv[2],
                      aws_secret_access_key=sys.argv[3])
for line in sys.stdin:
    uploads = client.list_multipart_uploads(Bucket="bucket", Prefix=line.strip()).get("Uploads", ())
    count = sum(len(client.list_parts(Bucket="bucket", Key=one["Key"], UploadId=one["UploadId"]).get("Parts", ()))
                for one in uploads if one["Key"] == line.strip())
    print(count, flush=True)
"""


class Bucket:
    """A server with the bucket "bucket"."""

    def __init__(self):
        words = [os.environ["TRAINWARDEN_MOTO_PYTHON"], SERVER]
        if os.environ.get("TRAINWARDEN_S3_SERVER") == "swift":
            self._folder = tempfile.TemporaryDirectory()
            words = [os.environ["TRAINWARDEN_SWIFT_PYTHON"], SWIFT, self._folder.name]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        _, self.port, self.key, self.secret = self._process.stdout.readline().split()
        self._parts = None

    def pause(self):
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self._process.send_signal(signal.SIGCONT)

    def end(self):
        if self._parts:
            self._parts.kill()
            self._parts.communicate()
        self.go_on()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def create(self, name):
        code = ("import sys, boto3; boto3.client('s3', endpoint_url=sys.argv[1], region_name='us-east-1', "
                "aws_access_key_id=sys.argv[2], aws_secret_access_key=sys.argv[3]).create_bucket(Bucket=sys.argv[4])")
        words = [os.environ["TRAINWARDEN_MOTO_PYTHON"], "-c", code, f"http://127.0.0.1:{self.port}", self.key, self.secret, name]
        subprocess.run(words, check=True)

    def unfinished_parts(self, key):
        """How many parts there are of uploads of this key that have not ended, as boto3 counts them."""
        if not self._parts:
            words = [os.environ["TRAINWARDEN_MOTO_PYTHON"], "-c", PARTS, f"http://127.0.0.1:{self.port}", self.key, self.secret]
            self._parts = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._parts.stdin.write(key + "\n")
        self._parts.stdin.flush()
        return int(self._parts.stdout.readline())

    def objects(self, prefix):
        """Key and bytes of each object, as boto3 reads them."""
        words = [os.environ["TRAINWARDEN_MOTO_PYTHON"], "-c", BOTO3, f"http://127.0.0.1:{self.port}", self.key, self.secret,
                 prefix]
        answer = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        return {key: base64.b64decode(content) for key, content in json.loads(answer).items()}


class BadNetwork:
    """Spoils a share of the answers of a bucket's server."""

    def __init__(self, bucket, rate, seed):
        words = [sys.executable, FAULTS, "--upstream", bucket.port, "--rate", str(rate), "--seed", str(seed)]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.port = int(self._process.stdout.readline().split()[1])

    def end(self):
        self._process.kill()
        self._process.communicate()
