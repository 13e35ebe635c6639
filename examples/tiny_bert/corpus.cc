#include "corpus.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "text/tokenizer.h"

namespace tiny_bert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read the text " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void append_contexts(const fs::path& path, std::vector<std::string>& texts) {
  try {
    const json document = json::parse(read_file(path));
    for (const json& article : document.at("data")) {
      for (const json& paragraph : article.at("paragraphs")) texts.push_back(paragraph.at("context"));
    }
  } catch (const json::exception& error) {
    throw std::runtime_error(path.string() + " is not SQuAD's JSON (data, paragraphs, context): " + error.what());
  }
}

void append_file(const fs::path& path, std::vector<std::string>& texts) {
  if (path.extension() == ".json") return append_contexts(path, texts);
  texts.push_back(read_file(path));
}

std::vector<fs::path> texts_below(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path ending = entry.path().extension();
    const bool is_text = ending == ".json" || ending == ".txt" || ending == ".md";
    if (entry.is_regular_file() && is_text) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool ends_sentence(const std::string& piece) {
  return piece == "." || piece == "!" || piece == "?";
}

// How many of the pieces make the first part.
std::size_t size_of_first_part(const Vocabulary& vocabulary, std::span<const std::int64_t> pieces) {
  const std::size_t middle = pieces.size() / 2;
  for (std::size_t distance = 0; distance < pieces.size() / 4; ++distance) {
    for (const std::size_t size : {middle - distance, middle + distance}) {
      if (ends_sentence(vocabulary.piece(pieces[size - 1]))) return size;
    }
  }
  return middle;
}

Sequence sequence_of(const Vocabulary& vocabulary, std::span<const std::int64_t> pieces) {
  const std::size_t first = size_of_first_part(vocabulary, pieces);
  Sequence sequence;
  const auto add_part = [&](std::span<const std::int64_t> part, std::int64_t segment) {
    sequence.pieces.insert(sequence.pieces.end(), part.begin(), part.end());
    sequence.pieces.push_back(vocabulary.separator());
    sequence.segments.resize(sequence.pieces.size(), segment);
  };
  sequence.pieces.push_back(vocabulary.begin());
  add_part(pieces.first(first), 0);
  add_part(pieces.subspan(first), 1);
  return sequence;
}

constexpr std::size_t kLeastSentence = 4;  // pieces: shorter ones are abbreviations
constexpr std::size_t kAloneWithin = 2;    // pieces: dots that are nearer to each other are those of "e. g."

bool is_alone(const Vocabulary& vocabulary, std::span<const std::int64_t> pieces, std::size_t end) {
  const std::size_t first = end - std::min(end, kAloneWithin);
  const std::size_t last = std::min(pieces.size() - 1, end + kAloneWithin);
  for (std::size_t i = first; i <= last; ++i) {
    if (i != end && ends_sentence(vocabulary.piece(pieces[i]))) return false;
  }
  return true;
}

// The places behind the ends of sentences, and the beginning.
std::vector<std::size_t> sentence_borders(const Vocabulary& vocabulary, std::span<const std::int64_t> pieces) {
  std::vector<std::size_t> borders = {0};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool is_long = i + 1 >= borders.back() + kLeastSentence;
    if (is_long && ends_sentence(vocabulary.piece(pieces[i])) && is_alone(vocabulary, pieces, i)) {
      borders.push_back(i + 1);
    }
  }
  return borders;
}

void append_sentences(const Vocabulary& vocabulary, std::span<const std::int64_t> pieces, std::size_t text_pieces,
                      std::vector<Sequence>& sequences) {
  const std::vector<std::size_t> borders = sentence_borders(vocabulary, pieces);
  std::size_t free_from = 0;  // what is before is in a sequence already
  for (const std::size_t begin : borders) {
    const bool is_filled = std::binary_search(borders.begin(), borders.end(), begin + text_pieces);
    if (begin < free_from || !is_filled) continue;
    const auto part = pieces.subspan(begin, text_pieces);
    const std::size_t middle = begin + size_of_first_part(vocabulary, part);
    if (!std::binary_search(borders.begin(), borders.end(), middle)) continue;
    sequences.push_back(sequence_of(vocabulary, part));
    free_from = begin + text_pieces;
  }
}

}  // namespace

std::vector<std::string> read_texts(const std::vector<fs::path>& paths) {
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    if (!fs::is_directory(path)) {
      append_file(path, texts);
      continue;
    }
    for (const fs::path& file : texts_below(path)) append_file(file, texts);
  }
  return texts;
}

std::vector<Sequence> cut_into_sequences(const Vocabulary& vocabulary, const std::vector<std::string>& texts,
                                         std::size_t length) {
  const std::size_t text_pieces = length - kSpecialsOfSequence;
  std::vector<Sequence> sequences;
  std::vector<std::int64_t> waiting;
  const bert::Tokenizer tokenizer(vocabulary, {});
  for (const std::string& text : texts) {
    const std::vector<std::int32_t> pieces = tokenizer.ids(text);
    waiting.insert(waiting.end(), pieces.begin(), pieces.end());
    std::span<const std::int64_t> rest = waiting;
    for (; rest.size() >= text_pieces; rest = rest.subspan(text_pieces)) {
      sequences.push_back(sequence_of(vocabulary, rest.first(text_pieces)));
    }
    waiting.erase(waiting.begin(), waiting.end() - static_cast<std::ptrdiff_t>(rest.size()));
  }
  return sequences;
}

std::vector<Sequence> sequences_of_sentences(const Vocabulary& vocabulary, const std::vector<std::string>& texts,
                                             std::size_t length, std::size_t last_pieces) {
  std::vector<Sequence> sequences;
  const bert::Tokenizer tokenizer(vocabulary, {});
  std::size_t seen = 0;
  for (auto text = texts.rbegin(); text != texts.rend(); ++text) {
    const std::vector<std::int32_t> ids = tokenizer.ids(*text);
    const std::vector<std::int64_t> pieces(ids.begin(), ids.end());
    seen += pieces.size();
    if (seen > last_pieces) break;
    append_sentences(vocabulary, pieces, length - kSpecialsOfSequence, sequences);
  }
  return sequences;
}

}  // namespace tiny_bert
