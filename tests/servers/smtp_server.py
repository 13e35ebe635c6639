#!/usr/bin/env python3
"""A mail server for tests (aiosmtpd): takes mail, with STARTTLS, TLS and AUTH as asked, and writes down what came.

usage: smtp_server.py --record FILE [--security none|starttls|tls] [--cert PEM --key KEY]
                      [--user NAME --password PASSWORD] [--port N]

Listens on 127.0.0.1, prints "port N" once it does, and runs until it is killed. With --security starttls nothing is
taken before STARTTLS; with --user nothing without AUTH. Each mail becomes a JSON line in FILE:
{"from", "to" (list), "tls", "user", "message" (as it came)}.

Recipients that it refuses, by what stands before the @:
  gone     550    busy     451    At the end of the data: late-gone 554, late-busy 452
  hang     no answer
  close    the connection is closed
"""
import argparse
import asyncio
import json
import logging
import ssl
import warnings

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

RECIPIENT_ANSWERS = {"gone": "550 5.1.1 nobody of that name", "busy": "451 4.7.1 come back later"}
DATA_ANSWERS = {"late-gone": "554 5.6.0 not this message", "late-busy": "452 4.3.1 no room"}


def name_of(address):
    return address.split("@")[0]


class Handler:
    def __init__(self, record):
        self.record = record

    async def handle_RCPT(self, server, session, envelope, address, options):
        name = name_of(address)
        if name == "hang":
            await asyncio.sleep(3600)
        if name == "close":
            server.transport.abort()
            return "421 4.3.0 closing"
        if name in RECIPIENT_ANSWERS:
            return RECIPIENT_ANSWERS[name]
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 2.1.5 OK"

    async def handle_DATA(self, server, session, envelope):
        for address in envelope.rcpt_tos:
            if name_of(address) in DATA_ANSWERS:
                return DATA_ANSWERS[name_of(address)]
        user = session.auth_data.login.decode() if session.authenticated else ""
        line = {"from": envelope.mail_from, "to": envelope.rcpt_tos, "tls": session.ssl is not None or server.implicit_tls,
                "user": user, "message": envelope.original_content.decode("utf-8", "backslashreplace")}
        with open(self.record, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return "250 2.0.0 taken"


def authenticator(user, password):
    def check(server, session, envelope, mechanism, data):
        good = isinstance(data, LoginPassword) and (data.login, data.password) == (user.encode(), password.encode())
        return AuthResult(success=good, handled=False, auth_data=data)
    return check


class Server(SMTP):
    implicit_tls = False


def make_session(arguments, context):
    asked = bool(arguments.user)
    server = Server(Handler(arguments.record), hostname="mail.test",
                    tls_context=context if arguments.security == "starttls" else None,
                    require_starttls=arguments.security == "starttls",
                    authenticator=authenticator(arguments.user, arguments.password) if asked else None,
                    auth_required=asked, auth_require_tls=not asked or arguments.security == "starttls")
    server.implicit_tls = arguments.security == "tls"
    return server


async def serve(arguments):
    context = None
    if arguments.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(arguments.cert, arguments.key)
    server = await asyncio.get_running_loop().create_server(
        lambda: make_session(arguments, context), "127.0.0.1", arguments.port,
        ssl=context if arguments.security == "tls" else None)
    print(f"port {server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main():
    warnings.simplefilter("ignore")  # aiosmtpd warns of what tests do on purpose
    logging.disable()
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", required=True)
    parser.add_argument("--security", choices=["none", "starttls", "tls"], default="none")
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--user", default="")
    parser.add_argument("--password", default="")
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
