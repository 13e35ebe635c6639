"""Runs bert_text_tool, and finds what the tests of this folder need of others; without it they are skipped (77)."""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[3]
WHOLE = os.environ.get("BERT_TEXT_WHOLE") == "1"  # all there is, in place of a sample that is drawn by a seed


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def import_tokenizers():
    """Hugging Face's library, with the Python that has it."""
    try:
        import tokenizers
        return tokenizers
    except ImportError:
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
        other = os.environ.get("TRAINWARDEN_RIVALS_PYTHON", str(cache / "trainwarden/torch2/newest/bin/python"))
        if os.path.exists(other) and os.environ.get("BERT_TEXT_PYTHON") != other:
            os.environ["BERT_TEXT_PYTHON"] = other
            os.execv(other, [other, "-B", *sys.argv])
        skip("no Python with `tokenizers` here: pip install tokenizers, and name it by TRAINWARDEN_RIVALS_PYTHON")


def shared(path):
    root = pathlib.Path(os.environ.get("TRAINWARDEN_SHARED_DATA", ROOT.parent / "shared/data"))
    if not (root / path).exists():
        skip(f"no {path}; TRAINWARDEN_SHARED_DATA names the folder that has it. SQuAD is at "
             "https://rajpurkar.github.io/SQuAD-explorer, BERT's vocabulary in bert-base-uncased of Hugging Face")
    return root / path


VOCABULARY = "vocab/bert-base-uncased-vocab.txt"
SQUAD = ["squad/dev-v1.1.json", "squad/amazon_reviews_v1.0.json", "squad/new_wiki_v1.0.json", "squad/reddit_v1.0.json"]


def questions_of(path):
    """(article's title, context, qa) of a file of SQuAD."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)["data"]
    return [(article["title"], paragraph["context"], qa) for article in data for paragraph in article["paragraphs"]
            for qa in paragraph["qas"]]


def sample(items, count, seed=1):
    items = list(items)
    if WHOLE or len(items) <= count:
        return items
    return random.Random(seed).sample(items, count)


def frames(texts):
    """`texts` are bytes."""
    return b"".join(struct.pack("=I", len(text)) + text for text in texts)


def run(tool, *arguments, texts=None):
    done = subprocess.run([tool, *map(str, arguments)], input=frames(texts) if texts is not None else b"",
                          stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"{tool} {arguments} ended with {done.returncode}")
    return done.stdout


def json_lines(output):
    return [json.loads(line) for line in output.decode().splitlines()]


def write_squad(path, questions):
    """Questions as questions_of() gives them, as a file of SQuAD; one article and paragraph for each."""
    data = [{"title": title, "paragraphs": [{"context": context, "qas": [qa]}]} for title, context, qa in questions]
    pathlib.Path(path).write_text(json.dumps({"version": "1.1", "data": data}), encoding="utf-8")
