"""Tokenizing a gigabyte on one core: our tokenizer beside Hugging Face's library, a part after the other.

    PYTHON bench/torch/tokenizer_bench.py --tool build/release/trainers/bert/tests/bert_text_tool [--json] [NAME...]

The texts are those of SQuAD and of the reviews in ../shared/data (TRAINWARDEN_SHARED_DATA names another folder), drawn
again and again with words, capitals, accents and digits changed, until a gigabyte is through. Both take the same parts in
turns, in one thread; both must find as many pieces in each. `./dev bench bert` runs it.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torch_bench import Figure

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "trainers/bert/tests"))
os.environ["RAYON_NUM_THREADS"] = "1"
import text_tool  # noqa: E402
import tokenizer_parity_test  # noqa: E402

NAME = "bert.tokenize_vs_library"
PARTS, PART_BYTES = 20, 50_000_000
CALL_BYTES = 1_000_000  # what the library is given at once: it keeps the pieces of all
REVIEWS = "reviews/womens_clothing_reviews.csv"
WORD = re.compile(r"\w+")
ACCENTED = str.maketrans("aeioucn", "\u00e0\u00e9\u00ee\u00f6\u00fc\u00e7\u00f1")


def texts() -> list[str]:
    """All that is varied, a line each."""
    with open(text_tool.shared(REVIEWS), encoding="utf-8", newline="") as file:
        reviews = [text for row in csv.reader(file) for text in row if len(text) > 60]
    questions = tokenizer_parity_test.texts_of_squad()
    return sorted({" ".join(text.split()) for text in (*questions, *reviews)})


def changed(text: str, draw: random.Random) -> str:
    """The text with one of its words made up, and in one of five ways besides."""
    words = WORD.findall(text)
    if words:
        text = text.replace(draw.choice(words), "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randrange(3, 12))))
    way = draw.randrange(5)
    if way == 0:
        return text.title()
    if way == 1:
        return text.translate(ACCENTED)
    if way == 2:
        return re.sub(r"\d", lambda _: str(draw.randrange(10)), text)
    if way == 3:
        return text[draw.randrange(len(text)):] + " " + text
    return text


def parts() -> Iterator[list[str]]:
    """A gigabyte, by a seed."""
    draw, all_texts = random.Random(1), texts()
    for _ in range(PARTS):
        lines, size = [], 0
        while size < PART_BYTES:
            lines.append(changed(draw.choice(all_texts), draw))
            size += len(lines[-1].encode()) + 1
        yield lines


def ours(tool: str, vocabulary: Path, lines: list[str]) -> tuple[float, int]:
    """Megabytes a second of processor time, and how many pieces."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
        file.flush()
        done = subprocess.run([tool, "speed", vocabulary, file.name, "1"], capture_output=True, text=True, check=True)
    speed, _, pieces, _ = done.stdout.split()
    return float(speed), int(pieces)


def theirs(tokenizer: Any, lines: list[str]) -> tuple[float, int]:
    """The same of the library. Its fastest call, which keeps no places."""
    size = sum(len(line.encode()) + 1 for line in lines)
    average = size // len(lines) + 1
    seconds, pieces = 0.0, 0
    for begin in range(0, len(lines), CALL_BYTES // average):
        some = lines[begin:begin + CALL_BYTES // average]
        started = time.process_time()
        encodings = tokenizer.encode_batch_fast(some, add_special_tokens=False)
        seconds += time.process_time() - started
        pieces += sum(len(encoding) for encoding in encodings)
    return size / seconds / 1e6, pieces


def measure(tool: str) -> Figure:
    """Our speed over the library's, of each part."""
    vocabulary = text_tool.shared(text_tool.VOCABULARY)
    tokenizer = tokenizer_parity_test.reference(vocabulary, tokenizer_parity_test.OPTIONS[()])
    pairs = []
    for lines in parts():
        (our_speed, our_pieces), (their_speed, their_pieces) = ours(tool, vocabulary, lines), theirs(tokenizer, lines)
        if our_pieces != their_pieces:
            raise SystemExit(f"tokenizer_bench: expected as many pieces of both, found {our_pieces} and {their_pieces}")
        pairs.append((our_speed, their_speed))
    our_median, their_median = (statistics.median(pair[i] for pair in pairs) for i in range(2))
    limit = (f"{our_median:.3g} MB/s a core beside {their_median:.3g} of tokenizers "
             f"{tokenizer_parity_test.tokenizers.__version__}, in {PARTS} parts of {PART_BYTES / 1e6:g} MB")
    return Figure(NAME, [our / their for our, their in pairs], "ratio", 1.0, limit, at_least=True)


def main() -> None:
    """Measures where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the program bert_text_tool")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead of a table")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only figures that begin with it")
    arguments = parser.parse_args()
    if arguments.names and not any(NAME.startswith(prefix) for prefix in arguments.names):
        return
    figure = measure(arguments.tool)
    print(figure.as_json() if arguments.json else figure.as_row())


if __name__ == "__main__":
    main()
