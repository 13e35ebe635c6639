"""What an untouched program parses of its command line is kept, and parsing stays what it was."""

from __future__ import annotations

import json
import subprocess
import sys

_PROGRAM = """
import json, sys
import trainwarden._arguments as arguments
import argparse
arguments.watch_argparse()
{body}
print(json.dumps(arguments.parsed_parameters()))
"""


def kept(body: str, *words: str) -> dict[str, str]:
    """What is kept of a program with this body, started with these words."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(body=body), *words], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(found, dict)
    return found


def test_names_and_plain_values_are_kept() -> None:
    body = """
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--amp", action="store_true")
parser.add_argument("--layers", type=int, nargs="*", default=[1, 2])
parser.add_argument("--resume")
parser.add_argument("data")
parser.parse_args()
"""
    assert kept(body, "--lr", "0.5", "mnist") == {"lr": "0.5", "epochs": "3", "amp": "False", "data": "mnist"}


def test_sub_commands_are_seen_and_other_texts_are_not() -> None:
    body = """
parser = argparse.ArgumentParser()
train = parser.add_subparsers(dest="command").add_parser("train")
train.add_argument("--lr", type=float)
parser.parse_args()
other = argparse.ArgumentParser()
other.add_argument("--secret-of-a-library")
other.parse_args(["--secret-of-a-library", "x"])
"""
    assert kept(body, "train", "--lr", "2") == {"command": "train", "lr": "2.0"}


def test_a_namespace_that_cannot_be_looked_at_harms_nobody() -> None:
    body = """
class Odd:
    __slots__ = ()
    def __setattr__(self, name, value): pass
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.parse_args(namespace=Odd())
"""
    assert kept(body, "--lr", "2") == {}


def test_wrong_usage_ends_as_before() -> None:
    body = """
parser = argparse.ArgumentParser(prog="train")
parser.add_argument("--lr", type=float)
parser.parse_args()
"""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(body=body), "--lr", "x"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "argument --lr: invalid float value: 'x'" in done.stderr
    assert "trainwarden" not in done.stderr


def test_words_that_can_be_read_once_are_read_once() -> None:
    """And nothing of the program's own classes is called, whatever they have in the place of what argparse asks."""
    body = """
import enum
class Words:
    def __init__(self): self.asked = 0
    def __iter__(self):
        self.asked += 1
        return iter(sys.argv[1:])
class Kind(str, enum.Enum):
    SMALL = "small"
    def __str__(self): raise AssertionError("spelt")
class Dear:
    asked = 0
    @property
    def __class__(self):
        Dear.asked += 1
        return str
class Own(argparse.Namespace):
    def __getattribute__(self, name):
        assert sys._getframe(1).f_code.co_filename != arguments.__file__
        return super().__getattribute__(name)
def parser():
    made = argparse.ArgumentParser()
    made.add_argument("--kind", type=Kind, default=Kind.SMALL)
    made.add_argument("--dear", type=lambda text: Dear())
    return made
words = Words()
parser().parse_args(words, Own())
assert words.asked == 1
assert arguments.parsed_parameters() == {}
parser().parse_args(namespace=Own())
assert Dear.asked == 0
parser().parse_args(tuple(sys.argv[1:]))
"""
    assert kept(body, "--dear", "x") == {"kind": "small"}


def test_a_warning_of_argparse_is_about_the_line_of_the_program() -> None:
    body = """
import warnings
class Mine(argparse.ArgumentParser):
    def _parse_known_args(self, *args, **kwargs):
        warnings.warn("mine", UserWarning, stacklevel=3)
        return super()._parse_known_args(*args, **kwargs)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    Mine().parse_known_args()
assert [each.filename for each in caught] == ["<string>"], caught[0].filename
"""
    assert kept(body) == {}
