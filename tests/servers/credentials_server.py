#!/usr/bin/env python3
"""The services that give a program credentials, for tests: of a container, of a machine of EC2, and STS.

usage: credentials_server.py --record FILE [--key ID --secret SECRET] [--lifetime SECONDS] [--no-session]

Listens on 127.0.0.1, prints "port N" once it does, and runs until it is killed. Each request becomes a JSON line in FILE:
{"method", "path", "answered"}. The credentials that it gives have the session "session-N", where N counts them, and expire
after the lifetime.

  GET /container               who sends the header "Authorization: open sesame" gets credentials
  PUT /latest/api/token        the token of version 2 of EC2's service
  GET /latest/meta-data/...    who sends it gets the name of the role, "trainer", and with that its credentials
  POST /                       AssumeRoleWithWebIdentity of STS for the role "arn:aws:iam::1:role/trainer": a token that
                               begins with "open sesame" gets credentials; "busy" is an answer that passes, "expired" a
                               refusal, "endless" and "odd" are answers that are none. Of these requests the record has
                               the "token" and the "session" too.
"""
import argparse
import datetime
import http.server
import json
import threading
import urllib.parse

ROLE = "arn:aws:iam::1:role/trainer"
ROLES = "/latest/meta-data/iam/security-credentials/"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    arguments = None
    lock = threading.Lock()
    given = 0

    def log_message(self, *words):
        pass

    def end(self):
        lifetime = datetime.timedelta(seconds=self.arguments.lifetime)
        return (datetime.datetime.now(datetime.timezone.utc) + lifetime).strftime("%Y-%m-%dT%H:%M:%SZ")

    def credentials(self):
        Handler.given += 1
        session = {} if self.arguments.no_session else {"Token": f"session-{Handler.given}"}
        return json.dumps({"Code": "Success", "AccessKeyId": self.arguments.key, "SecretAccessKey": self.arguments.secret,
                           "Expiration": self.end()} | session)

    def assume_role(self, form):
        """Status and document, as STS has them."""
        token = form.get("WebIdentityToken", "")
        errors = {"busy": (400, "IDPCommunicationError", "wait"), "expired": (400, "ExpiredTokenException", "Token expired")}
        if token == "odd":
            return 200, "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult>"
        if form.get("Action") != "AssumeRoleWithWebIdentity" or form.get("Version") != "2011-06-15":
            errors[token] = 400, "InvalidAction", "no"
        elif form.get("RoleArn") != ROLE or not token.startswith(("open sesame", *errors, "endless")):
            errors[token] = 403, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"
        if token in errors:
            status, code, message = errors[token]
            return status, f"<ErrorResponse><Error><Code>{code}</Code><Message>{message}</Message></Error></ErrorResponse>"
        Handler.given += 1
        end = "" if token == "endless" else f"<Expiration>{self.end()}</Expiration>"
        return 200, (
            '<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">'
            f"<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>{self.arguments.key}</AccessKeyId>"
            f"<SecretAccessKey>{self.arguments.secret}</SecretAccessKey>"
            f"<SessionToken>session-{Handler.given}</SessionToken>{end}</Credentials>"
            "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
        )

    def answer(self, form):
        if self.command == "POST" and self.path == "/":
            return self.assume_role(form)
        if self.path == "/container":
            return (200, self.credentials()) if self.headers.get("Authorization") == "open sesame" else (403, "no")
        if self.command == "PUT" and self.path == "/latest/api/token":
            return (200, "inside") if self.headers.get("X-aws-ec2-metadata-token-ttl-seconds") else (400, "no")
        if self.headers.get("X-aws-ec2-metadata-token") != "inside":
            return 401, "version 2 alone"
        if self.path == ROLES:
            return 200, "trainer\n"
        return (200, self.credentials()) if self.path == ROLES + "trainer" else (404, "no")

    def handle_any(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        form = dict(urllib.parse.parse_qsl(content))
        words = {"token": "WebIdentityToken", "session": "RoleSessionName"} if self.command == "POST" else {}
        with self.lock:
            status, body = self.answer(form)
            line = {"method": self.command, "path": self.path, "answered": status}
            line |= {name: form.get(key, "") for name, key in words.items()}
            with open(self.arguments.record, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    do_GET = do_PUT = do_POST = handle_any


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", required=True)
    parser.add_argument("--key", default="key")
    parser.add_argument("--secret", default="secret")
    parser.add_argument("--lifetime", type=int, default=3600)
    parser.add_argument("--no-session", action="store_true")
    Handler.arguments = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(f"port {server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
