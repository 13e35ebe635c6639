#include "text/tokenizer_file.h"

#include <stdexcept>

#include <nlohmann/json.hpp>

#include "files/reading.h"

namespace bert {
namespace {

using nlohmann::json;

void expect_type(const json& part, const char* name, const std::string& expected) {
  const std::string found = part.value("type", "nothing");
  if (found != expected) {
    throw std::runtime_error(std::string("expected a ") + name + " of the type " + expected + ", found " + found +
                             ": it is not BERT's tokenizer");
  }
}

std::vector<std::string> pieces_by_number(const json& vocabulary) {
  std::vector<std::string> pieces(std::min(vocabulary.size(), kMaxPieces + 1));
  if (pieces.size() > kMaxPieces)
    throw std::runtime_error("expected at most " + std::to_string(kMaxPieces) + " pieces");
  for (const auto& [piece, number] : vocabulary.items()) {
    const auto id = number.get<std::int64_t>();
    const bool is_free =
        id >= 0 && id < static_cast<std::int64_t>(pieces.size()) && pieces[static_cast<std::size_t>(id)].empty();
    if (!is_free || piece.empty() || piece.size() > kMaxPieceBytes) {
      throw std::runtime_error("model.vocab: expected each number below " + std::to_string(pieces.size()) +
                               " once and pieces of 1 to " + std::to_string(kMaxPieceBytes) + " bytes; \"" +
                               piece.substr(0, kMaxPieceBytes) + "\" has " + std::to_string(id));
    }
    pieces[static_cast<std::size_t>(id)] = piece;
  }
  return pieces;
}

TokenizerFile read(const json& document) {
  const json& model = document.at("model");
  if (model.contains("type")) expect_type(model, "model", "WordPiece");
  const json& normalizer = document.at("normalizer");
  expect_type(normalizer, "normalizer", "BertNormalizer");
  expect_type(document.at("pre_tokenizer"), "pre_tokenizer", "BertPreTokenizer");
  if (!normalizer.value("clean_text", true)) throw std::runtime_error("expected clean_text: true, found false");
  TokenizerFile file;
  file.pieces = pieces_by_number(model.at("vocab"));
  file.folding.lower_case = normalizer.value("lowercase", true);
  file.folding.split_chinese = normalizer.value("handle_chinese_chars", true);
  if (const auto accents = normalizer.find("strip_accents"); accents != normalizer.end() && !accents->is_null()) {
    file.folding.strip_accents = accents->get<bool>();
  }
  file.max_word_characters = model.value("max_input_chars_per_word", kMaxWordCharacters);
  return file;
}

}  // namespace

TokenizerFile read_tokenizer_file(const std::filesystem::path& path) {
  try {
    return read(json::parse(read_text(path, kMaxVocabularyFileBytes)));
  } catch (const json::exception& error) {
    throw std::runtime_error(path.string() + " is no tokenizer.json of BERT's: " + error.what());
  } catch (const std::runtime_error& error) {
    const std::string message = error.what();
    throw std::runtime_error(message.find(path.string()) == std::string::npos ? path.string() + ": " + message
                                                                              : message);
  }
}

}  // namespace bert
