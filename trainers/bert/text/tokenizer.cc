#include "text/tokenizer.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace bert {
namespace {

PieceTable table_of(const Vocabulary& vocabulary, bool continues) {
  std::vector<std::pair<std::string_view, std::int32_t>> pieces;
  for (std::size_t id = 0; id < vocabulary.size(); ++id) {
    std::string_view piece = vocabulary.piece(static_cast<std::int64_t>(id));
    if (continues) {
      if (!piece.starts_with(kContinues) || piece == kContinues) continue;
      piece.remove_prefix(kContinues.size());
    }
    pieces.emplace_back(piece, static_cast<std::int32_t>(id));
  }
  return PieceTable(pieces);
}

}  // namespace

Tokenizer::Tokenizer(Vocabulary vocabulary, TokenizerOptions options)
    : vocabulary_(std::move(vocabulary)),
      options_(options),
      folding_(options.folding),
      beginnings_(table_of(vocabulary_, false)),
      continuations_(table_of(vocabulary_, true)) {}

Tokenizer Tokenizer::load(const std::filesystem::path& path, const TokenizerOptions& options) {
  std::filesystem::path file = path;
  if (std::filesystem::is_directory(path)) {
    file = path / "tokenizer.json";
    if (!std::filesystem::exists(file)) file = path / "vocab.txt";
  }
  if (file.extension() != ".json") return Tokenizer(Vocabulary::load(file), options);
  TokenizerFile read = read_tokenizer_file(file);
  return Tokenizer(Vocabulary(std::move(read.pieces), file.string()), {read.folding, read.max_word_characters});
}

// Calls take(id, begin, end) with bytes of the word for each piece. False when the word does not come out; then some
// may have been taken.
template <class Take>
bool Tokenizer::split(const WordReader& reader, const Take& take) const {
  if (reader.characters() > options_.max_word_characters) return false;
  const std::string_view word = reader.word();
  const PieceTable* table = &beginnings_;
  for (std::size_t begin = 0; begin < word.size(); table = &continuations_) {
    std::int32_t id = PieceTable::kNone;
    std::size_t bytes = std::min(word.size() - begin, table->longest()) + 1;
    while (id == PieceTable::kNone && --bytes > 0) id = table->find(word.data() + begin, bytes);
    if (id == PieceTable::kNone) return false;
    take(id, begin, begin + bytes);
    begin += bytes;
  }
  return true;
}

void Tokenizer::append_ids(std::string_view utf8, std::vector<std::int32_t>& ids) const {
  WordReader reader(folding_, utf8, false);
  while (reader.next()) {
    const std::size_t count = ids.size();
    if (split(reader, [&](std::int32_t id, std::size_t, std::size_t) { ids.push_back(id); })) continue;
    ids.resize(count);
    ids.push_back(vocabulary_.unknown());
  }
}

std::vector<std::int32_t> Tokenizer::ids(std::string_view utf8) const {
  std::vector<std::int32_t> ids;
  append_ids(utf8, ids);
  return ids;
}

std::vector<Piece> Tokenizer::pieces(std::string_view utf8) const {
  if (utf8.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw std::runtime_error("expected a text below 4 GiB, found " + std::to_string(utf8.size()) +
                             " bytes; give it in parts");
  }
  std::vector<Piece> pieces;
  WordReader reader(folding_, utf8, true);
  const auto add = [&](std::int32_t id, std::size_t begin, std::size_t end) {
    const ByteRange range = reader.range_of(begin, end);
    pieces.push_back({id, static_cast<std::uint32_t>(range.begin), static_cast<std::uint32_t>(range.end)});
  };
  while (reader.next()) {
    const std::size_t count = pieces.size();
    if (split(reader, add)) continue;
    pieces.resize(count);
    add(vocabulary_.unknown(), 0, reader.word().size());
  }
  return pieces;
}

}  // namespace bert
