"""Makes of reviews what the classifier is trained on: pieces of words by their numbers, in TFRecords.

    python prepare_reviews.py --input raw --train train --validation validation --test test [--vocabulary vocab.txt]

`raw` has tables (.csv) with a review and its stars. Without a vocabulary, one is made of the words that are trained on: good
for a model that learns from nothing. A pretrained one needs its own. Each folder gets the vocabulary beside its records.
"""

import argparse
import collections
import csv
import random
import re
import shutil
from pathlib import Path

import tensorflow as tf
from transformers import DistilBertTokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PARTS = {"train": 0.9, "validation": 0.05, "test": 0.05}
FILES = 2  # of a part: as many readers as there are can share it


def reviews_in(folder, text_column, label_column):
    for table in sorted(Path(folder).glob("*.csv")):
        with open(table, encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                if row[text_column].strip():
                    yield row[text_column], int(row[label_column])


def as_often(reviews, labels):
    """Each label as often as the rarest, as the lab has it."""
    of_label = {label: [each for each in reviews if each[1] == label] for label in labels}
    count = min(map(len, of_label.values()))
    return [each for rows in of_label.values() for each in rows[:count]]


def parted(reviews):
    begin = 0
    for name, part in PARTS.items():
        end = len(reviews) if name == "test" else begin + round(part * len(reviews))
        yield name, reviews[begin:end]
        begin = end


def write_vocabulary(path, texts, size):
    counts = collections.Counter(word for text in texts for word in re.findall(r"\w+|[^\w\s]", text.lower()))
    words = [word for word, _ in counts.most_common(size - len(SPECIAL))]
    path.write_text("\n".join([*SPECIAL, *words]) + "\n", encoding="utf-8")


def numbers(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def record(tokenizer, text, label, length):
    pieces = tokenizer(text, max_length=length, padding="max_length", truncation=True)
    features = {"input_ids": pieces["input_ids"], "input_mask": pieces["attention_mask"], "label_ids": [label]}
    features["segment_ids"] = [0] * length
    named = {name: numbers(values) for name, values in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=named)).SerializeToString()


def write_part(folder, rows, tokenizer, vocabulary, length):
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(vocabulary, folder / "vocab.txt")
    for number in range(FILES):
        with tf.io.TFRecordWriter(str(folder / f"part-{number}.tfrecord")) as writer:
            for text, stars in rows[number::FILES]:
                writer.write(record(tokenizer, text, stars - 1, length))
    print(f"{folder.name}: {len(rows)} reviews", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("input", *PARTS):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--text-column", default="Review Text")
    parser.add_argument("--label-column", default="Rating")
    parser.add_argument("--vocabulary", type=Path)
    parser.add_argument("--vocabulary-size", type=int, default=4000)
    parser.add_argument("--max-seq-length", type=int, default=64)
    parser.add_argument("--balance-dataset", action="store_true")
    parser.add_argument("--reviews", type=int, help="no more than these many")
    given = parser.parse_args()
    reviews = list(reviews_in(given.input, given.text_column, given.label_column))
    random.Random(0).shuffle(reviews)
    if given.balance_dataset:
        reviews = as_often(reviews, range(1, 6))
        random.Random(0).shuffle(reviews)
    parts = dict(parted(reviews[: given.reviews]))
    vocabulary = given.vocabulary
    if vocabulary is None:
        given.train.mkdir(parents=True, exist_ok=True)
        vocabulary = given.train / "words.txt"
        write_vocabulary(vocabulary, [text for text, _ in parts["train"]], given.vocabulary_size)
    tokenizer = DistilBertTokenizer(str(vocabulary))
    for name, rows in parts.items():
        write_part(getattr(given, name), rows, tokenizer, vocabulary, given.max_seq_length)
    if given.vocabulary is None:
        vocabulary.unlink()


if __name__ == "__main__":
    main()
