#!/usr/bin/env python3
"""Debian's mail server exim4, started for tests without being installed: each connection to a port of ours gets an exim
of its own, as inetd would start it.

usage: exim_server.py --root FOLDER --work FOLDER --cert PEM --key KEY --user NAME --password PASSWORD

--root has exim's packages unpacked (scripts/mail_server.sh), --work is an empty folder. Prints "port N" once it listens.
Mail for host.example is taken after STARTTLS and AUTH PLAIN, and stays in WORK/spool/input; recipients that begin with
"gone" get a 550, with "busy" a 451.
"""
import argparse
import os
import pathlib
import shutil
import socket
import subprocess

CONFIGURATION = """
primary_hostname = mail.test
domainlist local_domains = host.example
spool_directory = {work}/spool
log_file_path = {work}/log/%slog
exim_path = {exim}
tls_advertise_hosts = *
tls_certificate = {work}/server.pem
tls_privatekey = {work}/server.key
acl_smtp_rcpt = check_recipient
acl_smtp_data = accept
queue_only = true
keep_environment = LD_LIBRARY_PATH : LD_PRELOAD : NSS_WRAPPER_PASSWD : NSS_WRAPPER_GROUP
begin acl
check_recipient:
  deny !encrypted = *
  deny local_parts = gone
  defer local_parts = busy
  accept authenticated = *
         domains = +local_domains
  deny
begin routers
box:
  driver = accept
  domains = +local_domains
  transport = box
begin transports
box:
  driver = appendfile
  file = /dev/null
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = ${{if and{{{{eq{{$auth2}}{{{user}}}}}{{eq{{$auth3}}{{{password}}}}}}}}}
  server_set_id = $auth2
  server_advertise_condition = ${{if def:tls_in_cipher}}
"""


def prepare(arguments):
    """Writes what exim reads; returns its command and environment."""
    root, work = pathlib.Path(arguments.root).resolve(), pathlib.Path(arguments.work).resolve()
    uid = os.getuid() or 65534  # exim's own user; it does not want to be root
    gid = os.getgid() or 65534
    for folder in ("spool", "log"):
        (work / folder).mkdir()
    shutil.copy(arguments.cert, work / "server.pem")
    shutil.copy(arguments.key, work / "server.key")
    if os.getuid() == 0:
        for path in (work, work / "spool", work / "log", work / "server.pem", work / "server.key"):
            os.chown(path, uid, gid)
        work.parent.chmod(0o755)
    # The names that exim was built with lead to our users, and nobody has to create them.
    (work / "passwd").write_text(f"root:x:0:0::/:/bin/false\nDebian-exim:x:{uid}:{gid}::/:/bin/false\n", encoding="ascii")
    (work / "group").write_text(f"root:x:0:\nDebian-exim:x:{gid}:\nmail:x:8:\n", encoding="ascii")
    exim = root / "usr/sbin/exim4"
    configuration = work / "exim.conf"
    configuration.write_text(CONFIGURATION.format(work=work, exim=exim, user=arguments.user,
                                                  password=arguments.password), encoding="ascii")
    libraries = sorted({str(path.parent) for path in root.glob("usr/lib/**/*.so*")})
    environment = {"LD_LIBRARY_PATH": ":".join(libraries), "LD_PRELOAD": "libnss_wrapper.so",
                   "NSS_WRAPPER_PASSWD": str(work / "passwd"), "NSS_WRAPPER_GROUP": str(work / "group"),
                   "PATH": "/usr/bin:/bin"}
    return [str(exim), "-C", str(configuration), "-bs"], environment


def main():
    parser = argparse.ArgumentParser()
    for name in ("root", "work", "cert", "key", "user", "password"):
        parser.add_argument("--" + name, required=True)
    command, environment = prepare(parser.parse_args())
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"port {listener.getsockname()[1]}", flush=True)
    while True:
        connection, _ = listener.accept()
        with connection:
            subprocess.run(command, env=environment, stdin=connection, stdout=connection, check=False)


if __name__ == "__main__":
    main()
