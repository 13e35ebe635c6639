#!/usr/bin/env python3
"""An HTTP server for tests that behaves as its path says, and writes down what it received.

usage: http_server.py --record FILE [--cert PEM --key KEY] [--port N]

Listens on 127.0.0.1, prints "port N" once it does, and runs until it is killed. With a certificate it speaks TLS.
Each request that was read whole becomes a JSON line in FILE, before it is answered:
{"method", "path", "headers" (names in lower case), "body", "unix_ms", "answered" (the status, 0 for none)}.

Paths (what follows a "?" is only recorded):
  /ok                     204
  /status/N               N, with the body "status N"
  /retry-after/N/VALUE    N, with the header Retry-After: VALUE (percent-encoded)
  /down-until/FILE        503 until FILE (percent-encoded path) exists, then 204
  /fail/N/TIMES           N as often as TIMES, then 204; counted for each path
  /slack/N/WORD           N, with the body WORD
  /redirect               307 to /ok; /redirect/N the status N
  /hang                   never answers
  /trickle                a byte of the answer every 100 ms, for ever
  /garbage                bytes that are no HTTP
  /huge                   200 and a body without end
  /headers                200 and headers without end
  /close                  closes without an answer
  /half                   closes in the middle of a body whose length it told
  /slam                   closes before it has read the body; not recorded
  /echo                   400, with all that it received as the body
"""
import argparse
import http.server
import json
import os
import socketserver
import ssl
import threading
import time
import urllib.parse


class Records:
    def __init__(self, path):
        self.path = path
        self.lock = threading.Lock()
        self.counts = {}

    def write(self, record):
        with self.lock, open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def count(self, path):
        """How often `path` was asked for, with this time."""
        with self.lock:
            self.counts[path] = self.counts.get(path, 0) + 1
            return self.counts[path]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    records = None  # of the program

    def log_message(self, *_):
        pass

    def do_POST(self):
        if self.path == "/slam":
            self.close_connection = True
            return
        self.body = self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = self.path.split("?")[0].strip("/").split("/")
        behaviour = getattr(self, "behave_" + parts[0].replace("-", "_"), self.behave_unknown)
        behaviour(*[urllib.parse.unquote(part) for part in parts[1:]])

    do_GET = do_PUT = do_POST

    def record(self, answered=0):
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.records.write({"method": self.command, "path": self.path, "headers": headers,
                            "body": self.body.decode("utf-8", "backslashreplace"),
                            "unix_ms": time.time_ns() // 1_000_000, "answered": answered})

    def answer(self, status, body=b"", headers=()):
        self.record(status)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)

    def stream(self, head, part, pause=0.0):
        """Sends `part` again and again until the other side has had enough."""
        self.record()
        self.close_connection = True
        try:
            self.wfile.write(head)
            while True:
                self.wfile.write(part)
                self.wfile.flush()
                time.sleep(pause)
        except OSError:
            pass

    def behave_unknown(self, *_):
        self.answer(404, b"no such behaviour")

    def behave_ok(self):
        self.answer(204)

    def behave_status(self, status):
        self.answer(int(status), f"status {status}".encode())

    def behave_retry_after(self, status, value):
        self.answer(int(status), headers=[("Retry-After", value)])

    def behave_down_until(self, file):
        self.answer(204 if os.path.exists(file) else 503)

    def behave_fail(self, status, times):
        self.answer(int(status) if self.records.count(self.path) <= int(times) else 204)

    def behave_slack(self, status, word):
        self.answer(int(status), word.encode())

    def behave_redirect(self, status="307"):
        self.answer(int(status), headers=[("Location", "/ok?token-of-the-redirect")])

    def behave_hang(self):
        self.record()
        self.close_connection = True
        self.rfile.read(1)  # returns when the other side has left

    def behave_trickle(self):
        self.stream(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n", b".", 0.1)

    def behave_garbage(self):
        self.record()
        self.close_connection = True
        self.wfile.write(bytes(range(256)) * 16)

    def behave_huge(self):
        self.stream(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n", b"x" * 65536)

    def behave_headers(self):
        self.stream(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"x" * 1000 + b"\r\n")

    def behave_close(self):
        self.record()
        self.close_connection = True

    def behave_half(self):
        self.record()
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")

    def behave_echo(self):
        self.answer(400, self.path.encode() + b"\n" + bytes(self.headers) + self.body)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    context = None

    def process_request_thread(self, request, client_address):
        """The handshake is made here, so that one who does not finish it holds up nobody else."""
        try:
            if self.context:
                request = self.context.wrap_socket(request, server_side=True)
        except OSError:
            request.close()
            return
        super().process_request_thread(request, client_address)

    def handle_error(self, *_):
        pass  # a client that leaves is part of the tests


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", required=True)
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    Handler.records = Records(arguments.record)
    server = Server(("127.0.0.1", arguments.port), Handler)
    if arguments.cert:
        server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.context.load_cert_chain(arguments.cert, arguments.key)
    print(f"port {server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
