#!/usr/bin/env python3
"""Compares our tokenizer with Hugging Face's, piece by piece and place by place.

usage: tokenizer_parity_test.py BERT_TEXT_TOOL

On texts of SQuAD, every code point alone and within words, marks in any order, bytes that are no UTF-8 and words of any
length, with each set of options. A sample; BERT_TEXT_WHOLE=1 takes all.
"""
import os
import random
import struct
import sys

import text_tool

os.environ.setdefault("RAYON_NUM_THREADS", "2")
tokenizers = text_tool.import_tokenizers()

PART = 50_000  # texts
OPTIONS = {
    (): dict(lowercase=True, strip_accents=None, handle_chinese_chars=True),
    ("cased",): dict(lowercase=False, strip_accents=None, handle_chinese_chars=True),
    ("keep",): dict(lowercase=True, strip_accents=False, handle_chinese_chars=True),
    ("cased", "strip", "whole-chinese"): dict(lowercase=False, strip_accents=True, handle_chinese_chars=False),
}


def reference(vocabulary, options):
    pieces = vocabulary.read_text(encoding="utf-8").splitlines()
    model = tokenizers.models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]",
                                        max_input_chars_per_word=100)
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(clean_text=True, **options)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return tokenizer


def ours(tool, vocabulary, options, texts):
    """For each text its (id, begin, end), places in bytes."""
    output = text_tool.run(tool, "pieces", vocabulary, *options, texts=texts)
    at, found = 0, []
    for _ in texts:
        count = struct.unpack_from("=I", output, at)[0]
        found.append(list(struct.iter_unpack("=iII", output[at + 4:at + 4 + 12 * count])))
        at += 4 + 12 * count
    assert at == len(output)
    return found


def byte_places(text):
    places, at = [0], 0
    for character in text:
        at += len(character.encode())
        places.append(at)
    return places


def theirs(tokenizer, texts):
    found = []
    for text, encoding in zip(texts, tokenizer.encode_batch(texts, add_special_tokens=False)):
        places = byte_places(text)
        found.append([(i, places[begin], places[end]) for i, (begin, end) in zip(encoding.ids, encoding.offsets)])
    return found


def texts_of_squad():
    for path in text_tool.SQUAD:
        questions = text_tool.questions_of(text_tool.shared(path))
        yield from {context for _, context, _ in questions}
        yield from (qa["question"] for _, _, qa in questions)


def code_points():
    return [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def texts_of_code_points(points):
    for c in map(chr, points):
        yield c
        yield f"The{c}word {c}end {c}{c} begin{c} e{c}\u0301x \u4e00{c}\u4e00 1{c}2"


def mixed_texts(count):
    """Marks that are put into order: the library then gives pieces the places of neighbours, so ids alone count."""
    draw = random.Random(2)
    marks = [chr(c) for c in (0x300, 0x301, 0x316, 0x334, 0x345, 0x302E, 0x302F, 0x1D165, 0x1D166, 0x1D16D, 0x1BAA,
                              0xA953, 0x111C0, 0x8D4, 0x8D5, 0x1E000, 0x1E94A, 0x11442, 0x5B0, 0xF73, 0x344,
                              0x1D160, 0x1D1BD)]
    mixed = marks + list("ab. \u4e00\uac00\uac01\ud7a3\u0130\u03a3\u00df\ufb01\u2126\u212b\u1e9b\u226e\u037e\u1fef"
                         "\u00a0\u2028\u3000\u200b\u200d\u00ad\ufeff\u0000\u0007\ufffd\ue000\U000e0001\U0002f800")
    for _ in range(count):
        yield "".join(draw.choices(mixed, k=draw.randrange(1, 30)))
        yield "a" + "".join(draw.choices(marks, k=draw.randrange(1, 12))) + "b"
        yield "".join(chr(draw.choice((draw.randrange(0xD800), draw.randrange(0xE000, 0x110000)))) for _ in range(20))


def long_words():
    for length in (63, 64, 65, 99, 100, 101, 128, 200, 201, 1000, 1_000_000):
        yield "a" * length
        yield "\u00e9" * length + "!"
        yield "x " + "\U0001d5ba" * length + "\u0301 y"
    yield "the" * 333_333
    yield "." * 100_000


def broken_bytes(count):
    """Lone surrogates, overlong forms, cut characters: with what Python puts in their place."""
    draw = random.Random(3)
    parts = [b"word", b" ", b"\xed\xa0\x80", b"\xc0\x80", b"\xe0\x80\xaf", b"\xf4\x90\x80\x80", b"\xff", b"\xc3",
             b"\xe2\x82", "\u00e9\u0301".encode(), "\u4e00".encode(), b".", b"\xf0\x9f\x98", b"\x80"]
    return [b"".join(draw.choices(parts, k=draw.randrange(1, 15))) for _ in range(count)]


def compare(name, texts, found, expected):
    different = [(t, f, e) for t, f, e in zip(texts, found, expected) if f != e]
    assert len(found) == len(expected) == len(texts)
    print(f"{name}: {len(texts)} texts, {sum(map(len, expected))} pieces, {len(different)} differ")
    for text, f, e in different[:5]:
        print(f"  {text[:80]!a}\n    ours   {f[:20]}\n    theirs {e[:20]}")
    return len(different)


def ids_of(pieces_of_texts):
    return [[i for i, _, _ in pieces] for pieces in pieces_of_texts]


def check(tool, vocabulary, name, texts, with_places=True):
    """In parts: what the library returns of a text is some kilobytes."""
    return sum(check_part(tool, vocabulary, name, texts[begin:begin + PART], with_places)
               for begin in range(0, len(texts), PART))


def check_part(tool, vocabulary, name, texts, with_places):
    mistakes = 0
    for options, library in OPTIONS.items():
        expected = theirs(reference(vocabulary, library), texts)
        found = ours(tool, vocabulary, options, [text.encode() for text in texts])
        if not with_places:
            expected, found = ids_of(expected), ids_of(found)
        mistakes += compare(f"{name} {' '.join(options)}", texts, found, expected)
    return mistakes


def check_broken(tool, vocabulary):
    """Ids alone: what is put in place of bytes has other places."""
    texts = broken_bytes(20_000 if text_tool.WHOLE else 2_000)
    tokenizer = reference(vocabulary, OPTIONS[()])
    expected = ids_of(theirs(tokenizer, [t.decode(errors="replace") for t in texts]))
    found = ids_of(ours(tool, vocabulary, (), texts))
    return compare("broken bytes", [t.decode("latin1") for t in texts], found, expected)


def main():
    tool, vocabulary = sys.argv[1], text_tool.shared(text_tool.VOCABULARY)
    squad = sorted(set(texts_of_squad()))
    mistakes = check(tool, vocabulary, "SQuAD", text_tool.sample(squad, 2_000))
    points = text_tool.sample(code_points(), 20_000)
    mistakes += check(tool, vocabulary, "code points", list(texts_of_code_points(points)))
    mistakes += check(tool, vocabulary, "mixed texts", list(mixed_texts(50_000 if text_tool.WHOLE else 2_000)), False)
    mistakes += check(tool, vocabulary, "long words", list(long_words()))
    mistakes += check_broken(tool, vocabulary)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
