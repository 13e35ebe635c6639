#!/usr/bin/env python3
"""An S3 server for tests: moto's, which keeps objects in memory. Needs a Python that has moto, boto3 and Flask.

usage: s3_server.py [--bucket NAME]

Listens on 127.0.0.1, prints "port N KEY_ID SECRET" once it does and the bucket is there, and runs until it is killed. Each
request must be signed with that key; moto works the signature out anew, by botocore. What moto leaves out is done here:
digests that come with a body are compared with it, as Amazon's S3 does. STS is there too: any web identity may have the
role arn:aws:iam::123456789012:role/trainer, whose credentials may do all in the bucket.
"""
import argparse
import base64
import hashlib
import io
import json
import logging
import os
import threading

os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "6"  # those of main(): the user, the role, the bucket
import boto3  # noqa: E402
from moto.moto_server import threaded_moto_server  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402
from moto.sts.responses import TokenResponse  # noqa: E402

MAY_ALL = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}

MAY_ASSUME = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity",
                                                     "Principal": {"Federated": "any"}}]}
SHA256_DIGITS = 64  # anything shorter is a word, such as UNSIGNED-PAYLOAD
Moto = threaded_moto_server.DomainDispatcherApplication


class ComparesDigests(Moto):
    def __call__(self, environ, start_response):
        if environ.get("HTTP_TRANSFER_ENCODING"):
            return super().__call__(environ, start_response)
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        sha256, md5 = environ.get("HTTP_X_AMZ_CONTENT_SHA256", ""), environ.get("HTTP_CONTENT_MD5", "")
        code = ""
        if len(sha256) == SHA256_DIGITS and hashlib.sha256(body).hexdigest() != sha256:
            code = "XAmzContentSHA256Mismatch"
        if md5 and base64.b64encode(hashlib.md5(body).digest()).decode() != md5:
            code = "BadDigest"
        if not code:
            return super().__call__(environ, start_response)
        start_response("400 Bad Request", [("Content-Type", "application/xml")])
        return [f"<Error><Code>{code}</Code></Error>".encode()]


threaded_moto_server.DomainDispatcherApplication = ComparesDigests
# moto wants a signature there, which who has a web identity cannot give.
TokenResponse._authenticate_and_authorize_normal_action = lambda *_: None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bucket", default="bucket")
    arguments = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    reach = {"endpoint_url": f"http://{host}:{port}", "region_name": "us-east-1", "aws_access_key_id": "any",
             "aws_secret_access_key": "any"}
    users = boto3.client("iam", **reach)
    users.create_user(UserName="user")
    key = users.create_access_key(UserName="user")["AccessKey"]
    users.put_user_policy(UserName="user", PolicyName="all", PolicyDocument=json.dumps(MAY_ALL))
    users.create_role(RoleName="trainer", AssumeRolePolicyDocument=json.dumps(MAY_ASSUME))
    users.put_role_policy(RoleName="trainer", PolicyName="all", PolicyDocument=json.dumps(MAY_ALL))
    boto3.client("s3", **reach).create_bucket(Bucket=arguments.bucket)
    print(f"port {port} {key['AccessKeyId']} {key['SecretAccessKey']}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
