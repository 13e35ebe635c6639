"""What the tests of the package share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

# f1 is best at rate 0.3: 0.9 there, and lower elsewhere.
TRAINING = """
import argparse, json, os, sys
parser = argparse.ArgumentParser()
parser.add_argument("--saved_path", required=True)
parser.add_argument("--rate", type=float, default=0.1)
parser.add_argument("--result", default="printed")
options, others = parser.parse_known_args()
f1 = 0.9 - abs(options.rate - 0.3)
if os.path.exists("crash"):
    print("out of memory")
    sys.exit(7)
open(os.path.join(options.saved_path, "model.txt"), "w").write("weights")
with open("calls.txt", "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
if options.result == "printed":
    print("f1: 0.0")
    print(f"loss 2, f1: {f1}, done")
elif options.result != "nothing":
    text = {"number": str(f1), "lines": f"other: 1\\nf1: {f1}", "json": json.dumps({"f1": f1})}[options.result]
    open(os.path.join(options.saved_path, "result"), "w").write(text)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a test works, with a training that is quick, and nothing that the user has set."""
    for name in [name for name in os.environ if name.startswith("TRAINWARDEN_")]:
        if name not in ("TRAINWARDEN_PROGRAM", "TRAINWARDEN_SHARED_DATA"):
            monkeypatch.delenv(name)
    (tmp_path / "train.py").write_text(TRAINING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([os.path.dirname(sys.executable), os.defpath]))
    return tmp_path
