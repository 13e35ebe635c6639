#!/usr/bin/env python3
"""Receives the webhooks of Trainwarden and takes only what is signed. Needs nothing but Python.

usage: WEBHOOK_SECRET=whsec_... verify_webhook.py [--port 8080] [--append FILE] [--cert PEM --key PEM]

`verify()` is all that a receiver of your own needs: it follows the Standard Webhooks specification, so any library for
that does the same. While a secret is being changed, give both, separated by a blank.
"""
import argparse
import base64
import hashlib
import hmac
import http.server
import json
import os
import ssl
import sys
import time

TOLERANCE_SECONDS = 300
LONGEST_BODY = 1 << 20


class NotGenuine(Exception):
    """The request was not signed by who has the secret, or not now."""


def key_of(secret):
    """What follows whsec_ is base64; any other text is taken as it is."""
    if secret.startswith("whsec_"):
        text = secret[len("whsec_"):]
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    return secret.encode()


def verify(secrets, headers, body, now=None):
    """Returns the id of the message; raises NotGenuine. `headers` by names in lower case, `body` bytes as they came."""
    try:
        message_id = headers["webhook-id"]
        timestamp = headers["webhook-timestamp"]
        signatures = headers["webhook-signature"].split(" ")
    except KeyError as missing:
        raise NotGenuine(f"the header {missing} is missing") from None
    if not timestamp.isascii() or not timestamp.isdigit():
        raise NotGenuine("webhook-timestamp is no number of seconds")
    now = time.time() if now is None else now
    if abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        raise NotGenuine("webhook-timestamp is too far from now: the request is old, or a clock is wrong")
    signed = f"{message_id}.{timestamp}.".encode() + body
    for secret in secrets:
        expected = "v1," + base64.b64encode(hmac.new(key_of(secret), signed, hashlib.sha256).digest()).decode()
        # Takes as long for a signature that is nearly right as for any other, so that none can be found by trying.
        if any(hmac.compare_digest(expected.encode(), given.encode()) for given in signatures):
            return message_id
    raise NotGenuine("no signature fits: the secret is another one, or the body was changed")


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    secrets = ()
    seen = set()  # a program that must not act twice after a restart keeps these in a file
    append = None

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > LONGEST_BODY:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(int(length))
        try:
            message_id = verify(self.secrets, {name.lower(): value for name, value in self.headers.items()}, body)
        except NotGenuine as why:
            print(f"refused: {why}", file=sys.stderr)
            return self.answer(401)
        if message_id not in self.seen:  # an event may come more than once
            try:
                self.handle_event(json.loads(body))
            except (ValueError, OSError) as why:
                print(f"failed: {why}", file=sys.stderr)
                return self.answer(500)
            self.seen.add(message_id)
        return self.answer(204)

    def handle_event(self, event):
        line = json.dumps(event)
        if self.append is None:
            print(line, flush=True)
            return
        with open(self.append, "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--append")
    parser.add_argument("--cert")
    parser.add_argument("--key")
    arguments = parser.parse_args()
    Receiver.secrets = os.environ.get("WEBHOOK_SECRET", "").split()
    if not Receiver.secrets:
        sys.exit("set WEBHOOK_SECRET to the secret that the webhook signs with")
    Receiver.append = arguments.append
    server = http.server.ThreadingHTTPServer(("127.0.0.1", arguments.port), Receiver)
    if arguments.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(arguments.cert, arguments.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(f"port {server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
