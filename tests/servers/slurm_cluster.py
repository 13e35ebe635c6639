#!/usr/bin/env python3
"""Slurm for tests: its real daemons, with nodes that are all this machine, beside whatever Slurm is there already.

usage: slurm_cluster.py --work FOLDER [--nodes N] [--cpus N] [--kill-wait SECONDS] [--forget-after SECONDS]
                        [--proctrack NAME] [--task NAME]

FOLDER is empty. Needs Debian's packages slurm-wlm and munge (scripts/packages/slurm.txt), and no rights: who is not root
gets a cluster for himself. Prints "conf PATH" once jobs can be submitted, with SLURM_CONF=PATH in the environment. Then
it takes a command a line, and answers each with "done": "stop NAME", "kill NAME" and "start NAME", where NAME is
controller, or that of a node, and "lose NODE", which ends a node with all that runs on it, as a machine without power.
All ends when its standard input does.
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

CONFIGURATION = """
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={work}/munge.socket
CryptoType=crypto/munge
SlurmctldPort={port}
StateSaveLocation={work}/state
SlurmdSpoolDir={work}/spool.%n
SlurmctldPidFile={work}/controller.pid
SlurmdPidFile={work}/%n.pid
SlurmctldLogFile={work}/controller.log
SlurmdLogFile={work}/%n.log
PlugStackConfig={work}/none.conf
ProctrackType=proctrack/{proctrack}
TaskPlugin={task}
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
AccountingStoreFlags=job_comment
JobCompType=jobcomp/filetxt
JobCompLoc={work}/completed.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=200000
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdParameters=config_overrides
KillWait={kill_wait}
MinJobAge={forget_after}
SlurmdTimeout=10
InactiveLimit=0
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def memory_mib():
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return pages * size // 2**20


class Cluster:
    def __init__(self, arguments):
        self.work = pathlib.Path(arguments.work).resolve()
        self.nodes = [f"node{number}" for number in range(1, arguments.nodes + 1)]
        self.conf = self.work / "slurm.conf"
        self.running = {}
        for folder in ("state", *(f"spool.{node}" for node in self.nodes)):
            (self.work / folder).mkdir()
        self.work.chmod(0o755)
        self.conf.write_text(self.configuration(arguments), encoding="ascii")
        os.environ["SLURM_CONF"] = str(self.conf)

    def configuration(self, arguments):
        memory = memory_mib() // 2 // arguments.nodes
        lines = [CONFIGURATION.format(host=socket.gethostname().split(".")[0], user=pwd.getpwuid(os.getuid()).pw_name,
                                      work=self.work, port=free_port(), kill_wait=arguments.kill_wait,
                                      forget_after=arguments.forget_after, proctrack=arguments.proctrack,
                                      task=arguments.task)]
        for node in self.nodes:
            lines.append(f"NodeName={node} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={free_port()} "
                         f"CPUs={arguments.cpus} RealMemory={memory} State=UNKNOWN\n")
        nodes = ",".join(self.nodes)
        lines.append(f"PartitionName=main Nodes={nodes} Default=YES MaxTime=INFINITE State=UP PriorityTier=1\n")
        lines.append(f"PartitionName=urgent Nodes={nodes} MaxTime=INFINITE State=UP PriorityTier=10\n")
        return "".join(lines)

    def command(self, name):
        if name == "controller":
            return [tool("slurmctld"), "-D", "-f", str(self.conf)]
        if name in self.nodes:
            return [tool("slurmd"), "-D", "-f", str(self.conf), "-N", name]
        raise SystemExit(f"no such daemon: {name}")

    def start_munge(self):
        key = self.work / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(1024))
        files = [f"--{file}-file={self.work}/munge.{file}" for file in ("pid", "log", "seed")]
        self.launch("munge", [tool("munged"), "--foreground", "--force", f"--socket={self.work}/munge.socket",
                              f"--key-file={key}", *files])
        wait_for(lambda: (self.work / "munge.socket").exists(), "munged", self.work)

    def launch(self, name, command):
        output = open(self.work / f"{name}.out", "ab")  # noqa: SIM115: it lives as long as the daemon
        self.running[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        output.close()

    def start(self, name):
        self.launch(name, self.command(name))
        if name == "controller":
            wait_for(lambda: succeeds(["scontrol", "ping"]), name, self.work)
        else:
            wait_for(lambda: node_state(name).startswith(("idle", "mix", "alloc")), name, self.work)

    def stop(self, name, number=signal.SIGTERM):
        daemon = self.running.pop(name, None)
        if daemon:
            daemon.send_signal(number)
            daemon.wait()

    def lose(self, node):
        """No process of the node can say that another one has ended: its daemon goes first, then Slurm's own processes."""
        self.stop(node, signal.SIGKILL)
        programs = processes_of(self.conf, node)
        for process in [*(parent for process in programs if name_of(parent := parent_of(process)) == "slurmstepd"), *programs]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def end(self):
        if "controller" in self.running:
            subprocess.run(["scancel", "--state=PENDING", "--user", str(os.getuid())], check=False, timeout=20,
                           capture_output=True)
            subprocess.run(["scancel", "--signal=KILL", "--full", "--user", str(os.getuid())], check=False, timeout=20,
                           capture_output=True)
        for name in [*self.nodes, "controller", "munge"]:
            self.stop(name)


def tool(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise SystemExit(f"{name} is not installed")
    return path


def processes_of(conf, node):
    """What jobs have started on this node of this cluster."""
    marks = {f"SLURM_CONF={conf}".encode(), f"SLURMD_NODENAME={node}".encode()}
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if marks <= set((entry / "environ").read_bytes().split(b"\0")):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def name_of(process):
    try:
        return pathlib.Path(f"/proc/{process}/comm").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def parent_of(process):
    try:
        return int(pathlib.Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def succeeds(command):
    return subprocess.run(command, capture_output=True, check=False, timeout=30).returncode == 0


def node_state(name):
    answer = subprocess.run(["sinfo", "--noheader", "--format=%t", "--nodes", name], capture_output=True, text=True,
                            check=False, timeout=30)
    return answer.stdout.strip()


def wait_for(condition, name, work, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            logs = "".join(path.read_text(errors="replace")[-2000:] for path in sorted(work.glob(f"{name}.[lo]*")))
            raise SystemExit(f"{name} does not start:\n{logs}")
        time.sleep(0.05)


def obey(cluster):
    for line in sys.stdin:
        word, name = line.split()
        if word == "start":
            cluster.start(name)
        elif word == "lose":
            cluster.lose(name)
        else:
            cluster.stop(name, signal.SIGKILL if word == "kill" else signal.SIGTERM)
        print("done", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--cpus", type=int, default=os.cpu_count())
    parser.add_argument("--kill-wait", type=int, default=5)
    parser.add_argument("--forget-after", type=int, default=300)
    parser.add_argument("--proctrack", default="pgid")
    parser.add_argument("--task", default="task/none", help="what binds tasks to processors: task/none or task/affinity")
    cluster = Cluster(parser.parse_args())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        cluster.start_munge()
        for name in ["controller", *cluster.nodes]:
            cluster.start(name)
        print(f"conf {cluster.conf}", flush=True)
        obey(cluster)
    finally:
        cluster.end()


if __name__ == "__main__":
    main()
