// Documents as what a model reads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace bert {

using Pieces = std::vector<std::int32_t>;  // ids of a vocabulary

// A file with a document on each line; lines that are blank are passed over. Throws std::runtime_error that names the
// file: none at all, a line that is no UTF-8, more than 4 GiB.
std::vector<std::string> read_documents(const std::filesystem::path& file);

// Documents parted at random: the same for the same seed, on every machine. Each part is in the order of the file.
struct HeldOut {
  std::vector<std::string> rest, held_out;
};
// `fraction` of them, rounded, is held out; one at least where there are two.
HeldOut hold_out(std::vector<std::string> documents, double fraction, std::uint64_t seed);

// [CLS], the pieces of a text, [SEP]: at most `max_length` of them, the first. `max_length`: 2 or more.
Pieces first_window(const Tokenizer& tokenizer, std::string_view text, std::size_t max_length);
// All pieces of a text in windows that follow each other, [CLS] and [SEP] around each; none of a text without pieces.
// `max_length`: 3 or more.
std::vector<Pieces> windows_of_document(const Tokenizer& tokenizer, std::string_view text, std::size_t max_length);

}  // namespace bert
