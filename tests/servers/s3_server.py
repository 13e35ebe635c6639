#!/usr/bin/env python3
"""An S3 server for tests: moto's, which keeps objects in memory. Needs a Python that has moto and Flask.

usage: s3_server.py [--bucket NAME]

Listens on 127.0.0.1, prints "port N" once it does and the bucket is there, and runs until it is killed.
"""
import argparse
import logging
import threading
import urllib.request

from moto.server import ThreadedMotoServer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bucket", default="bucket")
    arguments = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    request = urllib.request.Request(f"http://{host}:{port}/{arguments.bucket}", method="PUT", data=b"")
    urllib.request.urlopen(request).close()
    print(f"port {port}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
