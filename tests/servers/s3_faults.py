#!/usr/bin/env python3
"""A network that fails, for tests: stands before a server of S3 and spoils some of its answers.

usage: s3_faults.py --upstream PORT [--rate 0.3] [--seed N]

Listens on 127.0.0.1, prints "port N" once it does, and runs until it is killed. Of all requests the share RATE meets one
of these faults, drawn from the seed:

  slow-down    503 SlowDown; the server has not seen the request
  too-many     429; the same
  internal     500 InternalError, after the server has done what was asked
  lost         the connection is closed without an answer, after the server has done what was asked
  refused      the connection is closed before the server has seen the request
  cut          the answer ends in the middle of its body
  late         the answer comes half a second later
  damaged      a byte in the middle of the request's body is another one when the server gets it
"""
import argparse
import http.client
import http.server
import random
import threading
import time

FAULTS = ("slow-down", "too-many", "internal", "lost", "refused", "cut", "late", "damaged")
CODES = {"slow-down": (503, "SlowDown"), "too-many": (429, "SlowDown"), "internal": (500, "InternalError")}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def draw(self):
        with self.server.lock:
            fault = self.server.random.choice(FAULTS)
            return fault if self.server.random.random() < self.server.rate else ""

    def forward(self, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.upstream, timeout=60)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        found = answer.status, answer.getheaders(), answer.read()
        connection.close()
        return found

    def fail(self, fault):
        status, code = CODES[fault]
        body = f"<Error><Code>{code}</Code></Error>".encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def hang_up(self):
        self.close_connection = True

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.draw()
        if fault in ("slow-down", "too-many"):
            return self.fail(fault)
        if fault == "refused":
            return self.hang_up()
        if fault == "damaged" and body:
            middle = len(body) // 2
            body = body[:middle] + bytes([body[middle] ^ 1]) + body[middle + 1 :]
        status, headers, content = self.forward(body)
        if fault == "internal":
            return self.fail(fault)
        if fault == "lost":
            return self.hang_up()
        if fault == "late":
            time.sleep(0.5)
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        length = dict((name.lower(), value) for name, value in headers).get("content-length", len(content))
        self.send_header("Content-Length", str(length if self.command == "HEAD" else len(content)))
        self.end_headers()
        if self.command == "HEAD":
            return None
        if fault == "cut" and content:
            self.wfile.write(content[: len(content) // 2])
            return self.hang_up()
        self.wfile.write(content)
        return None

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", type=int, required=True)
    parser.add_argument("--rate", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.upstream, server.rate = arguments.upstream, arguments.rate
    server.random, server.lock = random.Random(arguments.seed), threading.Lock()
    print(f"port {server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
