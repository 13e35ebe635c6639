#!/usr/bin/env python3
"""Checks that the command line prints through src/ui/cli/terminal/output.h alone, which shows control characters.

usage: check_output.py [ROOT]

Prints one line for each direct print in src/ui/cli and exits 1 when there is any.
"""
import pathlib
import re
import sys

DIRECT = re.compile(r"\bfmt::v?print\b|\bstd::(cout|cerr|clog)\b|\b(std::)?(v?f?printf|v?dprintf|f?puts|f?putc|putchar|"
                    r"perror)\s*\(|\bfwrite\([^;]*\bstd(out|err)\b|\bwrite\(STD(OUT|ERR)_FILENO")
# output.* is the window itself; live_terminal.cc writes screens, whose cells are escaped when they are put.
ALLOWED = {"output.h", "live_terminal.cc"}


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def main(root: pathlib.Path) -> int:
    found = 0
    for path in sorted((root / "src/ui/cli").rglob("*")):
        if path.suffix not in (".cc", ".h") or path.name in ALLOWED or path.name.endswith("_test.cc"):
            continue
        for number, line in enumerate(without_comments(path.read_text()).splitlines(), 1):
            if match := DIRECT.search(line):
                print(f"{path.relative_to(root)}:{number}: {match.group(0)} prints directly; "
                      "use emit() of ui/cli/terminal/output.h, or print_json() of ui/cli/terminal/json_out.h")
                found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
