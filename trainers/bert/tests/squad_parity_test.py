#!/usr/bin/env python3
"""Compares windows and answers with the published rules of run_squad.py (Devlin et al. 2018), written again in Python.

usage: squad_parity_test.py BERT_TEXT_TOOL

On dev-v1.1.json, words by Hugging Face's `tokenizers`: windows of both strides with labels, and answers from made-up
logits. A sample of the questions; BERT_TEXT_WHOLE=1 takes all.
"""
import collections
import ctypes
import math
import pathlib
import struct
import sys
import tempfile

import text_tool

tokenizers = text_tool.import_tokenizers()

SPACES = " \t\r\n\u202f"
LENGTH, MAX_QUESTION = 384, 64


class Pieces:
    """Words and pieces, as BERT's BasicTokenizer and WordPiece make them."""

    def __init__(self, vocabulary):
        self.names = vocabulary.read_text(encoding="utf-8").splitlines()
        self.ids = {name: i for i, name in enumerate(self.names)}
        wordpiece = tokenizers.models.WordPiece(self.ids, unk_token="[UNK]", max_input_chars_per_word=100)
        self.model = tokenizers.Tokenizer(wordpiece)
        self.normalize = tokenizers.normalizers.BertNormalizer().normalize_str
        self.split = tokenizers.pre_tokenizers.BertPreTokenizer().pre_tokenize_str
        self.model.normalizer = tokenizers.normalizers.BertNormalizer()
        self.model.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()

    def of(self, text):
        return self.model.encode(text, add_special_tokens=False).ids

    def words(self, text):
        return [word for word, _ in self.split(self.normalize(text))]


def words_of(context):
    """Words, and for each character the word that it is in."""
    words, word_at, in_space = [], [], True
    for character in context:
        if character in SPACES:
            in_space = True
        else:
            if in_space:
                words.append("")
            words[-1] += character
            in_space = False
        word_at.append(max(len(words) - 1, 0))
    return words, word_at


def narrowed(ids, first, last, wanted):
    for begin in range(first, last + 1):
        for end in range(last, begin - 1, -1):
            if ids[begin:end + 1] == wanted:
                return begin, end
    return first, last


def spans_of(count, capacity, stride, moved):
    spans, begin = [], 0
    while True:
        size = min(count - begin, capacity)
        spans.append((begin, size))
        if begin + size == count:
            return spans
        begin += min(size, stride) if moved else capacity - stride


def has_max_context(spans, number, piece):
    best, best_score = None, None
    for i, (begin, size) in enumerate(spans):
        end = begin + size - 1
        if begin <= piece <= end:
            score = min(piece - begin, end - piece) + 0.01 * size
            if best_score is None or score > best_score:
                best, best_score = i, score
    return best == number


def windows_of(pieces, number, context, qa, stride, moved, labelled):
    words, word_at = words_of(context)
    ids, word_of, first_of = [], [], []
    for i, word in enumerate(words):
        first_of.append(len(ids))
        ids += pieces.of(word)
        word_of += [i] * (len(ids) - len(word_of))
    question = pieces.of(qa["question"])[:MAX_QUESTION]
    spans = spans_of(len(ids), LENGTH - len(question) - 3, stride, moved)
    first = last = -1
    if labelled:
        answer = qa["answers"][0]
        begin, end = word_at[answer["answer_start"]], word_at[answer["answer_start"] + len(answer["text"]) - 1]
        last = first_of[end + 1] - 1 if end + 1 < len(words) else len(ids) - 1
        first, last = narrowed(ids, first_of[begin], last, pieces.of(answer["text"]))
    found = []
    for i, (begin, size) in enumerate(spans):
        before = len(question) + 2
        has_answer = labelled and begin <= first and last < begin + size
        label = (first - begin + before, last - begin + before) if has_answer else (0, 0)
        found.append([number, [101] + question + [102] + ids[begin:begin + size] + [102], before,
                      word_of[begin:begin + size], [has_max_context(spans, i, begin + p) for p in range(size)], *label])
    return found


def made_up_logit(question, window, place, end):
    """As bert_text_tool's."""
    u = lambda x: ctypes.c_uint32(x).value
    x = u(question * 2654435761) ^ u(window * 40503) ^ u(place * 2246822519) ^ u(end * 3266489917)
    x = u((x ^ x >> 15) * 2246822519)
    x = u((x ^ x >> 13) * 3266489917)
    return struct.unpack("f", struct.pack("f", ((x ^ x >> 16) >> 20) / 128 - 16))[0]


def letters(text):
    return [(i, c) for i, c in enumerate(text) if c != " "]


def final_text(pieces, folded, original):
    whole = " ".join(pieces.words(original))
    begin = whole.find(folded)
    if begin == -1:
        return original
    ours, theirs = letters(whole), letters(original)
    if len(ours) != len(theirs):
        return original
    number = {place: i for i, (place, _) in enumerate(ours)}
    end = begin + len(folded) - 1
    if begin not in number or end not in number:
        return original
    return original[theirs[number[begin]][0]:theirs[number[end]][0] + 1]


def best_places(logits):
    return sorted(range(len(logits)), key=lambda i: logits[i], reverse=True)[:20]


Candidate = collections.namedtuple("Candidate", "window begin end begin_logit end_logit")


def candidates_of(windows, number):
    found, none = [], None
    for w, window in enumerate(windows):
        begins, ends = ([made_up_logit(number, w, p, e) for p in range(LENGTH)] for e in (0, 1))
        if none is None or begins[0] + ends[0] < none.begin_logit + none.end_logit:
            none = Candidate(None, 0, 0, begins[0], ends[0])
        before, size = window[2], len(window[3])
        for b in best_places(begins):
            for e in best_places(ends):
                if not (before <= b < before + size and before <= e < before + size and window[4][b - before]):
                    continue
                if b <= e <= b + 29:
                    found.append(Candidate(window, b, e, begins[b], ends[e]))
    return found, none


def text_of(pieces, words, candidate):
    window = candidate.window
    if window is None:
        return ""
    names = [pieces.names[i] for i in window[1][candidate.begin:candidate.end + 1]]
    folded = " ".join(names).replace(" ##", "").replace("##", "")
    first, last = window[3][candidate.begin - window[2]], window[3][candidate.end - window[2]]
    return final_text(pieces, " ".join(folded.split()), " ".join(words[first:last + 1]))


def answer(pieces, number, context, qa, impossible):
    windows = windows_of(pieces, number, context, qa, 128, True, False)
    words, _ = words_of(context)
    found, none = candidates_of(windows, number)
    if impossible:
        found.append(none)
    found.sort(key=lambda c: c.begin_logit + c.end_logit, reverse=True)
    best, seen = [], set()
    for candidate in found:
        if len(best) >= 20:
            break
        text = text_of(pieces, words, candidate)
        if text not in seen:
            seen.add(text)
            best.append([text, candidate.begin_logit, candidate.end_logit])
    if impossible and "" not in seen:
        best.append(["", none.begin_logit, none.end_logit])
    best = best or [["empty", 0.0, 0.0]]
    text, margin = best[0][0], 0.0
    if impossible:
        some = next((b for b in best if b[0]), None)
        margin = none.begin_logit + none.end_logit - some[1] - some[2] if some else sys.float_info.max
        text = some[0] if some and margin <= 0 else ""
    total = sum(math.exp(b + e - best[0][1] - best[0][2]) for _, b, e in best)
    return [qa["id"], text, margin, [[t, math.exp(b + e - best[0][1] - best[0][2]) / total, b, e] for t, b, e in best]]


def is_close(ours, theirs):
    return ours[:3] == theirs[:3] and len(ours[3]) == len(theirs[3]) and all(
        [a[0], *a[2:]] == [b[0], *b[2:]] and abs(a[1] - b[1]) < 1e-12 for a, b in zip(ours[3], theirs[3]))


def report(name, ours, theirs, same):
    assert len(ours) == len(theirs), f"{name}: {len(ours)} and {len(theirs)}"
    different = [(a, b) for a, b in zip(ours, theirs) if not same(a, b)]
    print(f"{name}: {len(theirs)}, {len(different)} differ")
    for a, b in different[:3]:
        print(f"  ours   {a!a}\n  theirs {b!a}")
    return len(different)


def main():
    tool, vocabulary = sys.argv[1], text_tool.shared(text_tool.VOCABULARY)
    pieces = Pieces(vocabulary)
    questions = text_tool.sample(text_tool.questions_of(text_tool.shared(text_tool.SQUAD[0])), 300)
    mistakes = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "squad.json"
        text_tool.write_squad(path, questions)
        for meaning in ("moved", "shared"):
            for stride in (128, 17):
                output = text_tool.run(tool, "windows", vocabulary, path, LENGTH, stride, meaning, "train")
                ours = text_tool.json_lines(output)
                theirs = [window for i, (_, context, qa) in enumerate(questions)
                          for window in windows_of(pieces, i, context, qa, stride, meaning == "moved", True)]
                mistakes += report(f"windows, {stride} pieces {meaning}", ours, theirs, lambda a, b: a == b)
        for version in ("v1", "v2"):
            ours = text_tool.json_lines(text_tool.run(tool, "answers", vocabulary, path, version, 128))
            theirs = [answer(pieces, i, context, qa, version == "v2") for i, (_, context, qa) in enumerate(questions)]
            mistakes += report(f"answers, {version}", ours, theirs, is_close)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
