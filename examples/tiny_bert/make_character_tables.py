#!/usr/bin/env python3
"""Prints character_tables.inc: what BERT's basic tokenizer has to know of Unicode.

usage: make_character_tables.py > character_tables.inc

From the tables of the Python that runs it (unicodedata.unidata_version).
"""
import sys
import unicodedata

HANGUL = range(0xAC00, 0xD7A4)  # decomposed by arithmetic, not by a table


def code_points():
    return [c for c in range(0x80, sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF]


def folded(code_point):
    """In lower case and without accents: '' for an accent that stands alone."""
    decomposed = unicodedata.normalize("NFD", chr(code_point).lower())
    return "".join(c for c in decomposed if unicodedata.category(c) != "Mn")


def foldings():
    """[first, last, stride, distance] of what becomes one character, and [from, to, to, to] of what becomes several."""
    runs, several = [], []
    for code_point in code_points():
        to = folded(code_point)
        if code_point in HANGUL or not to or to == chr(code_point):
            continue
        if len(to) > 1:
            several.append([code_point, *map(ord, to)] + [0] * (3 - len(to)))
        else:
            add_to_runs(runs, code_point, ord(to) - code_point)
    return runs, several


def add_to_runs(runs, code_point, distance):
    if runs and runs[-1][3] == distance:
        first, last, stride, _ = runs[-1]
        if (first == last and code_point - last in (1, 2)) or (first < last and code_point - last == stride):
            runs[-1][1:3] = [code_point, code_point - last]
            return
    runs.append([code_point, code_point, 1, distance])


def ranges(belongs):
    found = []
    for code_point in filter(belongs, code_points()):
        if found and found[-1][1] == code_point - 1:
            found[-1][1] = code_point
        else:
            found.append([code_point, code_point])
    return found


def print_array(declaration, rows):
    line, lines = "", []
    for row in rows:
        cell = "{" + ", ".join(hex(n) if n > 0x7F else str(n) for n in row) + "},"
        if len(line) + len(cell) > 118:
            lines.append(line)
            line = ""
        line += (" " if line else "    ") + cell
    print(f"{declaration}[] = {{", *lines, line, "};", sep="\n")


def main():
    print(f"// Unicode {unicodedata.unidata_version}, above ASCII; written by make_character_tables.py.")
    print("// clang-format off")
    runs, several = foldings()
    print_array("constexpr FoldingRun kFoldingRuns", runs)
    print_array("constexpr SeveralLetters kSeveralLetters", several)
    print_array("constexpr CharacterRange kAccents", ranges(lambda c: unicodedata.category(chr(c)) == "Mn"))
    print_array("constexpr CharacterRange kPunctuation", ranges(lambda c: unicodedata.category(chr(c))[0] == "P"))
    print_array("constexpr CharacterRange kSpaces", ranges(lambda c: unicodedata.category(chr(c))[0] == "Z"))
    print_array("constexpr CharacterRange kControls", ranges(lambda c: unicodedata.category(chr(c)) in ("Cc", "Cf")))
    print("// clang-format on")


if __name__ == "__main__":
    main()
