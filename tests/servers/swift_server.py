#!/usr/bin/env python3
"""A second S3 server for tests, independent of moto: OpenStack's Swift with its middleware s3api, which checks signatures of
version 4. Needs a Python that has swift (PyPI).

usage: swift_server.py FOLDER [--bucket NAME]

All its servers run in this process, with their files in FOLDER, whose file system must have extended attributes. Listens on
127.0.0.1, prints "port N KEY_ID SECRET" once it does and the bucket is there, and runs until it is killed.
"""
import argparse
import array
import logging
import pathlib
import warnings

warnings.filterwarnings("ignore")  # that eventlet is deprecated
import eventlet  # noqa: E402

eventlet.monkey_patch()
import boto3  # noqa: E402
import eventlet.wsgi  # noqa: E402
from swift.account.server import AccountController  # noqa: E402
from swift.common.ring import RingData  # noqa: E402
from swift.common.storage_policy import reload_storage_policies  # noqa: E402
from swift.common import utils  # noqa: E402
from swift.common.utils import set_swift_dir  # noqa: E402
from swift.common.wsgi import loadapp  # noqa: E402
from swift.container.server import ContainerController  # noqa: E402
from swift.obj.server import ObjectController  # noqa: E402

KEY, SECRET = "test:tester", "testing"

SWIFT = """
[swift-hash]
swift_hash_path_suffix = tests
swift_hash_path_prefix = tests

[storage-policy:0]
name = gold
default = yes
"""

PROXY = """
[DEFAULT]
swift_dir = {folder}
bind_ip = 127.0.0.1
log_level = ERROR
[pipeline:main]
pipeline = catch_errors gatekeeper s3api tempauth bulk slo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:s3api]
use = egg:swift#s3api
s3_acl = no
location = us-east-1
min_segment_size = 5242880
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
"""


def listen():
    return eventlet.listen(("127.0.0.1", 0))


def serve(socket, app):
    quiet = logging.getLogger("quiet")
    quiet.setLevel(logging.CRITICAL)
    return eventlet.spawn(eventlet.wsgi.server, socket, app, log=quiet, log_output=False, protocol=Protocol)


class Protocol(eventlet.wsgi.HttpProtocol):
    def log_message(self, *words):
        pass


def write_ring(folder, name, port):
    device = {"id": 0, "device": "sda1", "zone": 0, "region": 1, "weight": 1.0, "ip": "127.0.0.1", "port": port,
              "replication_ip": "127.0.0.1", "replication_port": port, "meta": ""}
    RingData([array.array("H", [0, 0, 0, 0])], [device], 30).save(str(folder / f"{name}.ring.gz"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--bucket", default="bucket")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    (folder / "sda1/tmp").mkdir(parents=True, exist_ok=True)
    (folder / "swift.conf").write_text(SWIFT)
    (folder / "proxy.conf").write_text(PROXY.format(folder=folder))
    set_swift_dir(str(folder))
    utils.SWIFT_CONF_FILE = str(folder / "swift.conf")
    utils.HASH_PATH_SUFFIX = utils.HASH_PATH_PREFIX = b"tests"
    reload_storage_policies()
    sockets = {name: listen() for name in ("account", "container", "object", "proxy")}
    for name in ("account", "container", "object"):
        write_ring(folder, name, sockets[name].getsockname()[1])
    settings = {"devices": str(folder), "swift_dir": str(folder), "mount_check": "false", "log_level": "ERROR",
                "allowed_headers": "Content-Encoding, X-Object-Manifest, Content-Disposition, X-Static-Large-Object"}
    serve(sockets["account"], AccountController(settings))
    serve(sockets["container"], ContainerController(settings))
    serve(sockets["object"], ObjectController(settings))
    serve(sockets["proxy"], loadapp(str(folder / "proxy.conf"), global_conf={}))
    port = sockets["proxy"].getsockname()[1]
    boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", region_name="us-east-1", aws_access_key_id=KEY,
                 aws_secret_access_key=SECRET).create_bucket(Bucket=arguments.bucket)
    print(f"port {port} {KEY} {SECRET}", flush=True)
    while True:
        eventlet.sleep(3600)


if __name__ == "__main__":
    main()
