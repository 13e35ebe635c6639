#!/usr/bin/env python3
"""Prints character_tables.inc: what BERT's tokenizer does with each character, as Hugging Face's `tokenizers` does it.

usage: make_character_tables.py > character_tables.inc

The library takes categories from one version of Unicode, decompositions from another and small letters from a third, so
every table is asked of the library itself, for each code point. It is on PyPI as `tokenizers`.
"""
import unicodedata

import tokenizers
from tokenizers import normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x80, 0x110000) if not 0xD800 <= c <= 0xDFFF]
HANGUL = range(0xAC00, 0xD7A4)  # decomposed by arithmetic, not by a table
MAX_LETTERS = 3  # of what a character becomes


def bert(**wanted):
    options = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**options, **wanted}).normalize_str


def becomes(function, to):
    return [c for c in CODE_POINTS if function(chr(c)) == to]


def is_punctuation(code_point):
    return len(pre_tokenizers.BertPreTokenizer().pre_tokenize_str("a" + chr(code_point) + "a")) == 3


def foldings(function):
    """[first, last, stride, distance] of what becomes one character, and [from, to, to, to] of what becomes several."""
    runs, several = [], []
    for code_point in CODE_POINTS:
        to = function(chr(code_point))
        if code_point in HANGUL or not to or to == chr(code_point):
            continue
        if len(to) > 1:
            several.append([code_point, *map(ord, to)] + [0] * (MAX_LETTERS - len(to)))
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


def ranges(code_points):
    found = []
    for code_point in code_points:
        if found and found[-1][1] == code_point - 1:
            found[-1][1] = code_point
        else:
            found.append([code_point, code_point])
    return found


def is_reordered(code_point):
    """Whether decomposition moves the character among marks: its combining class is not 0."""
    character, low, high = chr(code_point), "\u0334", "\u0345"  # classes 1 and 240, the outermost
    decomposed = normalizers.NFD().normalize_str
    return decomposed("a" + character + low) == "a" + low + character or (
        decomposed("a" + high + character) == "a" + character + high)


def combining_ranges():
    """[first, last, class]; that a class is not 0 says the library, which one Python."""
    found = []
    for code_point in filter(is_reordered, CODE_POINTS):
        combining_class = unicodedata.combining(chr(code_point))
        if found and found[-1][1:] == [code_point - 1, combining_class]:
            found[-1][1] = code_point
        else:
            found.append([code_point, code_point, combining_class])
    return found


def print_array(declaration, rows):
    line, lines = "", []
    for row in rows:
        numbers = [hex(n) if n > 0x7F else str(n) for n in row]
        several = "SeveralLetters" in declaration  # a character and those that it becomes
        cell = "{" + (f"{numbers[0]}, {{{', '.join(numbers[1:])}}}" if several else ", ".join(numbers)) + "},"
        if len(line) + len(cell) > 118:
            lines.append(line)
            line = ""
        line += (" " if line else "    ") + cell
    print(f"{declaration}[] = {{", *lines, line, "};", sep="\n")


def main():
    print(f"// Characters above ASCII, as tokenizers {tokenizers.__version__} has them; by make_character_tables.py.")
    print("// clang-format off")
    stripped_runs, stripped_several = foldings(bert(strip_accents=True))
    lowered_runs, lowered_several = foldings(bert(lowercase=True))
    print_array("constexpr FoldingRun kStrippedRuns", stripped_runs)
    print_array("constexpr SeveralLetters kStrippedSeveral", stripped_several)
    print_array("constexpr FoldingRun kLoweredRuns", lowered_runs)
    print_array("constexpr SeveralLetters kLoweredSeveral", lowered_several)
    print_array("constexpr CharacterRange kAccents", ranges(becomes(bert(strip_accents=True), "")))
    print_array("constexpr CombiningRange kCombining", combining_ranges())
    print_array("constexpr CharacterRange kPunctuation", ranges(filter(is_punctuation, CODE_POINTS)))
    print_array("constexpr CharacterRange kSpaces", ranges(becomes(bert(clean_text=True), " ")))
    print_array("constexpr CharacterRange kDropped", ranges(becomes(bert(clean_text=True), "")))
    split = bert(handle_chinese_chars=True)
    print_array("constexpr CharacterRange kIdeographs", ranges(c for c in CODE_POINTS if split(chr(c)) != chr(c)))
    print("// clang-format on")


if __name__ == "__main__":
    main()
