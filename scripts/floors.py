#!/usr/bin/env python3
"""The table of floors: src/floors.json, from which the build, the check of includes and ARCHITECTURE.md have it.

usage: floors.py [--write] [ROOT]
       floors.py --folder FLOOR

Compares the table in ARCHITECTURE.md with src/floors.json and exits 1 when they differ; with --write, writes it there.
With --folder, prints the folder of a floor.
"""
import json
import pathlib
import sys

BEGIN = "<!-- made from src/floors.json by scripts/floors.py --write -->"
END = "<!-- end -->"


def read(root):
    """What src/floors.json says; of this project where ROOT, a tree of a test, has none."""
    file = root / "src" / "floors.json"
    if not file.exists():
        file = pathlib.Path(__file__).resolve().parent.parent / "src" / "floors.json"
    return json.loads(file.read_text(encoding="utf-8"))


def levels(floors):
    """How many floors lie below each at least. Floors are listed from the ground up."""
    level = {}
    for floor in floors:
        unknown = [name for name in floor["includes"] if name not in level]
        if unknown:
            sys.exit(f"src/floors.json: {floor['name']} includes {', '.join(unknown)}, which is not listed before it")
        level[floor["name"]] = max((level[name] + 1 for name in floor["includes"]), default=0)
    return level


def wing_of(floor):
    """The folder of src that a floor lies in."""
    return floor["folder"].split("/")[1]


def check_wings(document):
    """Wings are listed from the ground up; a floor includes those of its own wing and of wings before it."""
    order = [wing["name"] for wing in document["wings"]]
    wing = {floor["name"]: wing_of(floor) for floor in document["floors"]}
    for floor in document["floors"]:
        if wing[floor["name"]] not in order:
            sys.exit(f"src/floors.json: {floor['folder']} is in no wing; the wings are {', '.join(order)}")
        for name in floor["includes"]:
            if order.index(wing[name]) > order.index(wing[floor["name"]]):
                sys.exit(f"src/floors.json: {floor['name']} includes {name}, whose wing {wing[name]} comes after its own")


def table(document):
    level = levels(document["floors"])
    check_wings(document)
    rows = ["| floor | folder | holds | may include | never |", "|---|---|---|---|---|"]
    for floor in document["floors"]:
        rows.append(f"| {level[floor['name']]} | {floor['folder']} | {floor['holds']} | {', '.join(floor['includes'])} "
                    f"| {floor.get('never', '')} |")
    for part in document["above"]:
        rows.append(f"| above | {part['folder']} | {part['holds']} | {part['includes']} | {part.get('never', '')} |")
    return "\n".join(rows)


def wing_table(document):
    rows = ["| wing | holds | floors |", "|---|---|---|"]
    for wing in document["wings"]:
        floors = [floor["name"] for floor in document["floors"] if wing_of(floor) == wing["name"]]
        rows.append(f"| src/{wing['name']} | {wing['holds']} | {', '.join(floors)} |")
    return "\n".join(rows)


def page_table(document):
    rows = ["| folder of web/src | holds | may import |", "|---|---|---|"]
    rows += [f"| {floor['name']} | {floor['holds']} | {', '.join(floor['includes'])} |" for floor in document["page"]]
    return "\n".join(rows)


def print_folder(name):
    for floor in read(pathlib.Path(__file__).resolve().parent.parent)["floors"]:
        if floor["name"] == name:
            print(floor["folder"])
            return 0
    return 1


def main(arguments):
    if arguments[:1] == ["--folder"] and len(arguments) == 2:
        return print_folder(arguments[1])
    write = "--write" in arguments
    paths = [argument for argument in arguments if argument != "--write"]
    root = pathlib.Path(paths[0] if paths else pathlib.Path(__file__).resolve().parent.parent)
    file = root / "ARCHITECTURE.md"
    text = file.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN + "\n")
    there, _, after = rest.partition(END)
    if not rest or not after:
        print(f"ARCHITECTURE.md: expected the table of floors between {BEGIN} and {END}")
        return 1
    document = read(root)
    wanted = f"\n{wing_table(document)}\n\n{table(document)}\n\nThe page is built of floors of its own:\n\n{page_table(document)}\n\n"
    if there == wanted:
        return 0
    if not write:
        print("ARCHITECTURE.md: its table of floors is not that of src/floors.json; run scripts/floors.py --write")
        return 1
    file.write_text(before + BEGIN + "\n" + wanted + END + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
