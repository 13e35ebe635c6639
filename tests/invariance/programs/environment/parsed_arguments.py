"""argparse: classes, methods, errors and help of a program's parser, and what it parses."""
import argparse
import contextlib
import inspect
import io
import sys


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ValueError(message)


class Space(argparse.Namespace):
    looked = []

    def __getattribute__(self, name):
        if not name.startswith("__"):
            Space.looked.append(name)
        return super().__getattribute__(name)


parser = Parser(prog="p", description="d")
parser.add_argument("--lr", type=float, default=0.1, help="rate")
parser.add_argument("--secret", default=object())
parser.add_argument("files", nargs="*")
args = parser.parse_args(["--lr", "0.2", "a", "b"], namespace=Space())
print(args.lr, args.files, Space.looked)
with contextlib.redirect_stdout(io.StringIO()) as text:
    parser.print_help()
print(len(text.getvalue()), inspect.signature(argparse.ArgumentParser.parse_args), Parser.parse_args.__qualname__)
print(inspect.getsourcefile(argparse.ArgumentParser.parse_known_args).split("/")[-1], type(parser.parse_args).__name__)
for words in (["--nope"], ["--lr", "x"]):
    try:
        parser.parse_args(words)
    except ValueError as error:
        print(error)
import seen

net = seen.small_net()
seen.train(net, 10)
print(parser.parse_known_args(["--other"])[1], sorted(vars(argparse.ArgumentParser))[:5], seen.digest(net))
