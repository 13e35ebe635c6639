#!/usr/bin/env python3
"""OpenSSH's server for tests: a real sshd on the loopback, with keys of its own, for the user who runs it.

usage: ssh_server.py --work FOLDER [--home FOLDER] [--path FOLDER] [--namespace NAME]

FOLDER is empty. Needs Debian's package openssh-server (scripts/packages/ssh.txt), and no rights. --home: what is HOME for
who comes in; --path: what comes first in their PATH. Writes FOLDER/bin/ssh, the system's ssh with these keys: put
FOLDER/bin before PATH. The host `box` is this server, `stranger` the same with a key that the server does not know,
`unknown` the same with a host key that nobody knows. Prints "ready", then takes a command a line and answers each with
"done": "kill" (the server, and all connections), "start". All ends when its standard input does.

--namespace: it is a machine with a network of its own, at the other end of a cable that "unplug" and "plug" are for: what is
sent meanwhile is lost, and nobody is told. Needs the rights of root; exit code 77 where a namespace cannot be made.
"""
import argparse
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time

SERVER = """
Port {port}
ListenAddress {address}
HostKey {work}/host_key
AuthorizedKeysFile {work}/authorized_keys
PidFile {work}/sshd.pid
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv HOME={home} PATH={path} LC_ALL=C
LogLevel VERBOSE
"""
CLIENT = """
Host box stranger unknown
  HostName {address}
  Port {port}
  User {user}
  IdentitiesOnly yes
  StrictHostKeyChecking yes
Host box
  IdentityFile {work}/key
  UserKnownHostsFile {work}/known_hosts
Host stranger
  IdentityFile {work}/other_key
  UserKnownHostsFile {work}/known_hosts
Host unknown
  IdentityFile {work}/key
  UserKnownHostsFile /dev/null
"""


LOOPBACK = "127.0.0.1"
SUBNET = f"10.213.{os.getpid() % 256}"  # others may test beside us
NEAR, FAR = f"{SUBNET}.1", f"{SUBNET}.2"  # the two ends of the cable


class Cable:
    """To a network namespace; `near` and `far` are its ends."""

    def __init__(self, name):
        self.name, self.near, self.far = name, f"{name}n", f"{name}f"
        try:
            ip("netns", "add", name)
            ip("link", "add", self.near, "type", "veth", "peer", "name", self.far, "netns", name)
            ip("address", "add", f"{NEAR}/30", "dev", self.near)
            ip("link", "set", self.near, "up")
            ip("-n", name, "address", "add", f"{FAR}/30", "dev", self.far)
            self.plug()
        except (OSError, subprocess.CalledProcessError) as error:
            self.remove()
            print(f"no network namespace: {error}", file=sys.stderr)
            raise SystemExit(77) from error

    def plug(self):
        ip("-n", self.name, "link", "set", self.far, "up")

    def unplug(self):
        ip("-n", self.name, "link", "set", self.far, "down")

    def remove(self):
        subprocess.run(["ip", "netns", "delete", self.name], check=False, capture_output=True)


def ip(*words):
    subprocess.run(["ip", *words], check=True, timeout=30, capture_output=True)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True, timeout=30)


class Server:
    def __init__(self, arguments):
        self.work = pathlib.Path(arguments.work).resolve()
        self.port = free_port()
        self.daemon = None
        self.cable = Cable(arguments.namespace) if arguments.namespace else None
        self.address = FAR if self.cable else LOOPBACK
        for name in ("host_key", "key", "other_key"):
            make_key(self.work / name)
        shutil.copy(self.work / "key.pub", self.work / "authorized_keys")
        host_key = (self.work / "host_key.pub").read_text(encoding="ascii").split()[:2]
        (self.work / "known_hosts").write_text(f"[{self.address}]:{self.port} {' '.join(host_key)}\n", encoding="ascii")
        path = os.pathsep.join(filter(None, [arguments.path, "/usr/local/bin:/usr/bin:/bin"]))
        (self.work / "sshd_config").write_text(
            SERVER.format(address=self.address, port=self.port, work=self.work, home=arguments.home or self.work,
                          path=path), encoding="utf-8")
        (self.work / "ssh_config").write_text(
            CLIENT.format(address=self.address, port=self.port, work=self.work, user=pwd.getpwuid(os.getuid()).pw_name), encoding="utf-8")
        wrapper = self.work / "bin" / "ssh"
        wrapper.parent.mkdir()
        wrapper.write_text(f'#!/bin/sh\nexec {tool("ssh")} -F {self.work}/ssh_config "$@"\n', encoding="utf-8")
        wrapper.chmod(0o755)

    def start(self):
        log = open(self.work / "sshd.log", "ab")  # noqa: SIM115: it lives as long as the daemon
        # A session of its own, so that all its connections can be killed with it.
        there = ["ip", "netns", "exec", self.cable.name] if self.cable else []
        self.daemon = subprocess.Popen([*there, tool("sshd"), "-D", "-e", "-f", str(self.work / "sshd_config")],
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        log.close()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with socket.socket() as connection:
                if connection.connect_ex((self.address, self.port)) == 0:
                    return
            time.sleep(0.05)
        raise SystemExit("sshd does not start:\n" + (self.work / "sshd.log").read_text(errors="replace")[-2000:])

    def kill(self):
        if not self.daemon:
            return
        for process in children(self.daemon.pid):
            end(process)
        end(self.daemon.pid)
        self.daemon.wait()
        self.daemon = None

    def close(self):
        self.kill()
        if self.cable:
            self.cable.remove()

    def obey(self, command):
        {"start": self.start, "kill": self.kill, "unplug": lambda: self.cable.unplug(),
         "plug": lambda: self.cable.plug()}[command]()


def end(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def children(process):
    """Those of sshd that hold connections: what they have started is left to itself, as when a machine loses its network."""
    found = []
    for task in pathlib.Path("/proc").glob(f"{process}/task/*/children"):
        for child in map(int, task.read_text(encoding="ascii").split()):
            name = pathlib.Path(f"/proc/{child}/comm").read_text(encoding="utf-8").strip()
            found += [child, *children(child)] if name == "sshd" else []
    return found


def tool(name):
    path = shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin")
    if not path:
        raise SystemExit(f"{name} is not installed")
    return path


def obey(server):
    for line in sys.stdin:
        server.obey(line.strip())
        print("done", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--home")
    parser.add_argument("--path")
    parser.add_argument("--namespace")
    if os.getuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)  # where it separates its rights
    server = Server(parser.parse_args())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        server.start()
        print("ready", flush=True)
        obey(server)
    finally:
        server.close()


if __name__ == "__main__":
    main()
