#!/usr/bin/env python3
"""Compares scores with the rules of the official evaluation scripts (v1.1 and v2.0), written again in Python.

usage: evaluation_parity_test.py BERT_TEXT_TOOL

A prediction for each question of dev-v1.1.json, made of its context: spans, and edits that are hard on letters, spaces
and marks. To the last digit. And normalized texts around every code point: a sample; BERT_TEXT_WHOLE=1 takes all.
"""
import collections
import json
import pathlib
import random
import re
import string
import struct
import sys
import tempfile
import unicodedata

import text_tool

MISSING = 7  # questions without a prediction


def normalized(text):
    text = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def f1_of(prediction, gold):
    common = sum((collections.Counter(prediction) & collections.Counter(gold)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(prediction), common / len(gold)
    return 2 * precision * recall / (precision + recall)


def score_v1(text, golds):
    return (max(float(normalized(text) == normalized(gold)) for gold in golds),
            max(f1_of(normalized(text).split(), normalized(gold).split()) for gold in golds))


def score_v2(text, golds):
    golds = [gold for gold in golds if normalized(gold)] or [""]

    def f1(gold):
        a, b = normalized(text).split(), normalized(gold).split()
        return f1_of(a, b) if a and b else float(a == b)

    return max(float(normalized(text) == normalized(gold)) for gold in golds), max(map(f1, golds))


def mean(values):
    total = 0.0
    for value in values:  # sum() of Python 3.12 adds in another way
        total += value
    return 100.0 * total / len(values)


def hostile(draw, text):
    edits = [lambda t: t, str.upper, str.title, lambda t: "The " + t, lambda t: t.replace(" ", "\u00a0"),
             lambda t: t.replace(" ", "\u3000 "), lambda t: t + "\u0301", lambda t: unicodedata.normalize("NFD", t),
             lambda t: t.replace("s", "\u03a3"), lambda t: t.replace("i", "\u0130"),
             lambda t: "\u201c" + t + "\u201d", lambda t: t.replace(" ", " a\u0301 "),
             lambda t: t.replace("e", "\u00e9"), lambda t: t.replace(" ", "\u200b"),
             lambda t: t.replace("o", "\ud55c"), lambda t: f"a-{t}-an", lambda t: t.replace("a", "a\u2013the"),
             lambda t: t + "\u2028the\x85a\x1fan", lambda t: t[::-1], lambda t: "", lambda t: " the ",
             lambda t: "\u00bd" + t]
    return draw.choice(edits)(draw.choice(edits)(text))


def made_up(questions):
    draw, predictions = random.Random(5), {}
    for _, context, qa in questions:
        begin = draw.randrange(len(context))
        span = context[begin:begin + draw.randrange(1, 60)]
        gold = draw.choice(qa["answers"])["text"]
        predictions[qa["id"]] = hostile(draw, draw.choice([gold, span, gold + " " + span, gold[:-1]]))
    return predictions


def best_threshold(order, scores, predictions, has_answer, odds):
    score = best = sum(not has for has in has_answer.values())
    threshold = 0.0
    for i in order:
        score += scores[i] if has_answer[i] else (-1 if predictions[i] else 0)
        if score > best:
            best, threshold = score, odds[i]
    return 100.0 * best / len(scores), threshold


def check_v1(tool, folder, squad, questions, predictions):
    kept = dict(list(predictions.items())[MISSING:])
    (folder / "v1.json").write_text(json.dumps(kept), encoding="utf-8")
    ours = json.loads(text_tool.run(tool, "evaluate", "v1", squad, folder / "v1.json"))
    scores = [score_v1(kept[qa["id"]], [a["text"] for a in qa["answers"]]) if qa["id"] in kept else (0.0, 0.0)
              for _, _, qa in questions]
    theirs = [mean([s[0] for s in scores]), mean([s[1] for s in scores]), MISSING, [list(s) for s in scores]]
    print(f"v1.1: EM {ours[0]!r} and {theirs[0]!r}, F1 {ours[1]!r} and {theirs[1]!r}, over {len(scores)} questions")
    different = [(a, b, q[2]["id"]) for a, b, q in zip(ours[3], theirs[3], questions) if a != b]
    for a, b, i in different[:5]:
        print(f"  {i}: ours {a}, theirs {b}, {kept.get(i)!a}")
    return ours != theirs


def check_v2(tool, folder, questions, predictions):
    draw = random.Random(6)
    questions = [(title, context, dict(qa, answers=[] if draw.random() < 0.4 else qa["answers"]))
                 for title, context, qa in questions]
    text_tool.write_squad(folder / "dev2.json", questions)
    odds = {i: draw.randrange(-50, 50) / 8 for i in predictions}  # ties are there
    (folder / "v2.json").write_text(json.dumps(predictions), encoding="utf-8")
    (folder / "odds.json").write_text(json.dumps(odds), encoding="utf-8")
    ours = json.loads(text_tool.run(tool, "evaluate", "v2", folder / "dev2.json", folder / "v2.json",
                                    folder / "odds.json", 1))
    raw = {qa["id"]: score_v2(predictions[qa["id"]], [a["text"] for a in qa["answers"]]) for _, _, qa in questions}
    has = {qa["id"]: bool(qa["answers"]) for _, _, qa in questions}
    final = {i: (float(not has[i]),) * 2 if odds[i] > 1 else score for i, score in raw.items()}
    theirs = []
    for wanted in (lambda i: True, lambda i: has[i], lambda i: not has[i]):
        part = [score for i, score in final.items() if wanted(i)]
        theirs.append([mean([s[0] for s in part]), mean([s[1] for s in part]), len(part)])
    order = sorted(odds, key=lambda i: odds[i])
    for k in (0, 1):
        theirs += best_threshold(order, {i: s[k] for i, s in raw.items()}, predictions, has, odds)
    print(f"v2.0:\n  ours   {ours}\n  theirs {theirs}")
    return ours != theirs


def check_normalized(tool):
    points = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    texts = [text for c in map(chr, text_tool.sample(points, 100_000))
             for text in (c, f"a{c}the x{c}a {c}an {c}\u03a3 \u03a3{c} a\u03a3{c} a{c}\u03a3 A{c}B")]
    output, at, mistakes = text_tool.run(tool, "normalize", texts=[t.encode() for t in texts]), 0, []
    for text in texts:
        size = struct.unpack_from("=I", output, at)[0]
        ours = output[at + 4:at + 4 + size].decode()
        at += 4 + size
        if ours != normalized(text) and not is_newer_than_python(text):
            mistakes.append((text, ours, normalized(text)))
    print(f"normalized: {len(texts)} texts, {len(mistakes)} differ (Python's Unicode is {unicodedata.unidata_version})")
    for text, ours, theirs in mistakes[:5]:
        print(f"  {text!a}: ours {ours!a}, theirs {theirs!a}")
    return bool(mistakes)


def is_newer_than_python(text):
    """ICU knows letters that this Python's Unicode does not have yet."""
    return any(unicodedata.category(c) == "Cn" for c in text)


def main():
    tool, squad = sys.argv[1], text_tool.shared(text_tool.SQUAD[0])
    questions = text_tool.questions_of(squad)
    predictions = made_up(questions)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        wrong = [check_v1(tool, folder, squad, questions, predictions), check_v2(tool, folder, questions, predictions),
                 check_normalized(tool)]
    return 1 if any(wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
