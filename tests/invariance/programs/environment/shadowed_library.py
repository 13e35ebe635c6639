"""A folder that is first on the path holds modules named as rare ones of Python's library; nobody imports them."""
import os
import sys

rare = [
    "uuid", "socketserver", "xmlrpc", "wave", "turtle", "sched", "poplib", "netrc", "mailbox", "imaplib", "ftplib",
    "fileinput", "filecmp", "dbm", "curses", "configparser", "colorsys", "cmd", "code", "codeop", "chunk", "cgi",
    "calendar", "cProfile", "bdb", "asyncore", "aifc", "argparse", "getpass", "gettext", "graphlib", "hmac", "http",
    "json", "mimetypes", "plistlib", "pprint", "profile", "pstats", "queue", "rlcompleter", "sqlite3", "stringprep",
    "tabnanny", "telnetlib", "tomllib", "unittest", "venv", "webbrowser", "xdrlib", "zipapp", "zoneinfo", "secrets",
    "shlex",
]
already = set(sys.modules)
import torch

present = set(sys.modules)
os.mkdir("first")
for name in set(rare) - present:
    with open(f"first/{name}.py", "w") as file:
        file.write(f"print('somebody imports', '{name}')\n")
sys.path.insert(0, os.path.abspath("first"))
import seen

net = seen.small_net()
seen.train(net, 40)
net.eval()
net(torch.ones(2, 4))
print(seen.digest(net))
