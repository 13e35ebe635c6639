// Texts to train on, and the sequences of pieces that they are cut into.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "text/vocabulary.h"

namespace tiny_bert {

using bert::Vocabulary;

// Of each path: the contexts of a file in SQuAD's JSON, any other file whole, or what lies below a folder (.json, .txt,
// .md). Throws std::runtime_error that says what is missing or wrong.
std::vector<std::string> read_texts(const std::vector<std::filesystem::path>& paths);

inline constexpr std::size_t kSpecialsOfSequence = 3;

// [CLS] part [SEP] part [SEP], always full: nothing is padded, so nothing has to be masked from attention.
struct Sequence {
  std::vector<std::int64_t> pieces;
  std::vector<std::int64_t> segments;  // 0 up to the first [SEP], then 1
};

// The texts one after another, cut into sequences of `length` pieces, at least 8. The first part of each ends with a
// sentence where one ends in the middle half. What does not fill a sequence at the end is left out.
std::vector<Sequence> cut_into_sequences(const Vocabulary& vocabulary, const std::vector<std::string>& texts,
                                         std::size_t length);

// Of the texts within the last `last_pieces` pieces: whole sentences that fill a sequence, each part ends with one. The
// texts' last are first. Not what a text begins or ends with in the midst of a sentence.
std::vector<Sequence> sequences_of_sentences(const Vocabulary& vocabulary, const std::vector<std::string>& texts,
                                             std::size_t length, std::size_t last_pieces);

}  // namespace tiny_bert
