#include "words/documents.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>

#include "files/reading.h"
#include "text/characters.h"
#include "text/drawing.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{4} << 30;

Pieces framed(const Vocabulary& vocabulary, std::span<const std::int32_t> pieces) {
  Pieces window = {vocabulary.begin()};
  window.insert(window.end(), pieces.begin(), pieces.end());
  window.push_back(vocabulary.separator());
  return window;
}

}  // namespace

std::vector<std::string> read_documents(const fs::path& file) {
  const std::string text = read_text(file, kMaxFileBytes);
  std::vector<std::string> documents;
  std::size_t number = 1;
  for (std::string_view rest(text); !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (!is_utf8(line)) {
      throw std::runtime_error(
          file.string() + ", line " + std::to_string(number) +
          ": expected UTF-8, found other bytes; iconv turns a file of another encoding into UTF-8");
    }
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) documents.emplace_back(line);
  }
  if (documents.empty()) throw std::runtime_error(file.string() + ": expected a document on each line, found none");
  return documents;
}

HeldOut hold_out(std::vector<std::string> documents, double fraction, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> order(documents.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rounded = static_cast<std::size_t>(std::lround(fraction * static_cast<double>(order.size())));
  const std::size_t count = order.size() < 2 ? 0 : std::clamp<std::size_t>(rounded, 1, order.size());
  std::vector<bool> is_held_out(order.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(order[i], order[i + draw_below(random, order.size() - i)]);
    is_held_out[order[i]] = true;
  }
  HeldOut parts;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    (is_held_out[i] ? parts.held_out : parts.rest).push_back(std::move(documents[i]));
  }
  return parts;
}

Pieces first_window(const Tokenizer& tokenizer, std::string_view text, std::size_t max_length) {
  const Pieces pieces = tokenizer.ids(text);
  return framed(tokenizer.vocabulary(), std::span(pieces).first(std::min(pieces.size(), max_length - 2)));
}

std::vector<Pieces> windows_of_document(const Tokenizer& tokenizer, std::string_view text, std::size_t max_length) {
  std::vector<Pieces> windows;
  const Pieces pieces = tokenizer.ids(text);
  for (std::span<const std::int32_t> rest(pieces); !rest.empty();) {
    const std::size_t taken = std::min(rest.size(), max_length - 2);
    windows.push_back(framed(tokenizer.vocabulary(), rest.first(taken)));
    rest = rest.subspan(taken);
  }
  return windows;
}

}  // namespace bert
