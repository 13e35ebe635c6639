#include "vocabulary_learning.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "text/characters.h"
#include "text/tokenizer.h"

namespace tiny_bert {
namespace {

using bert::append_utf8;
using bert::kContinues;
using bert::kSpecialPieces;
using bert::to_utf32;

using Pair = std::pair<std::uint32_t, std::uint32_t>;

struct Word {
  std::vector<std::uint32_t> pieces;
  std::uint64_t count = 0;
};

class Learner {
 public:
  explicit Learner(const std::vector<std::string>& texts) {
    for (const std::string_view special : kSpecialPieces) pieces_.emplace_back(special);
    std::map<std::string, std::uint64_t> counts;
    const bert::Folding folding({});
    for (const std::string& text : texts) {
      for (const std::string& word : bert::basic_words(text, folding)) ++counts[word];
    }
    for (const auto& [word, count] : counts) add_word(word, count);
    for (std::size_t i = 0; i < words_.size(); ++i) count_pairs(i, +1);
  }

  // False when no pair is there twice.
  bool join_most_frequent() {
    const auto best = std::max_element(pair_counts_.begin(), pair_counts_.end(), [](const auto& a, const auto& b) {
      return a.second < b.second;  // of several the first by number: the same at each run
    });
    if (best == pair_counts_.end() || best->second < 2) return false;
    join(best->first);
    return true;
  }

  std::size_t size() const { return pieces_.size(); }
  std::vector<std::string> take() { return std::move(pieces_); }

 private:
  std::uint32_t id_of(const std::string& piece) {
    const auto [found, is_new] = ids_.try_emplace(piece, static_cast<std::uint32_t>(pieces_.size()));
    if (is_new) pieces_.push_back(piece);
    return found->second;
  }

  void add_word(const std::string& word, std::uint64_t count) {
    Word added{{}, count};
    for (const char32_t character : to_utf32(word)) {
      std::string piece(added.pieces.empty() ? "" : kContinues);
      append_utf8(character, piece);
      added.pieces.push_back(id_of(piece));
    }
    words_.push_back(std::move(added));
  }

  void count_pairs(std::size_t index, int sign) {
    const Word& word = words_[index];
    for (std::size_t i = 1; i < word.pieces.size(); ++i) {
      const Pair pair(word.pieces[i - 1], word.pieces[i]);
      std::uint64_t& count = pair_counts_[pair];
      count = sign > 0 ? count + word.count : count - word.count;
      if (count == 0) pair_counts_.erase(pair);
      if (sign > 0) words_with_[pair].insert(index);
    }
  }

  void join(Pair pair) {
    const std::string end = pieces_[pair.second].substr(kContinues.size());
    const std::uint32_t joined = id_of(pieces_[pair.first] + end);
    const std::set<std::size_t> words = std::move(words_with_[pair]);
    words_with_.erase(pair);
    for (const std::size_t index : words) {
      count_pairs(index, -1);
      replace(words_[index].pieces, pair, joined);
      count_pairs(index, +1);
    }
  }

  static void replace(std::vector<std::uint32_t>& pieces, Pair pair, std::uint32_t joined) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i, ++kept) {
      const bool is_pair = i + 1 < pieces.size() && Pair(pieces[i], pieces[i + 1]) == pair;
      pieces[kept] = is_pair ? joined : pieces[i];
      if (is_pair) ++i;
    }
    pieces.resize(kept);
  }

  std::vector<std::string> pieces_;
  std::map<std::string, std::uint32_t> ids_;  // but of the special ones, which no text has
  std::vector<Word> words_;
  std::map<Pair, std::uint64_t> pair_counts_;
  std::map<Pair, std::set<std::size_t>> words_with_;  // and some that no longer have it
};

bool is_one_character(std::string_view piece) {
  if (piece.starts_with(kContinues) && piece.size() > kContinues.size()) piece.remove_prefix(kContinues.size());
  return to_utf32(piece).size() == 1;
}

}  // namespace

Vocabulary learn_vocabulary(const std::vector<std::string>& texts, std::size_t size) {
  Learner learner(texts);
  while (learner.size() < size && learner.join_most_frequent()) {
  }
  return Vocabulary(learner.take(), "the learnt vocabulary");
}

Vocabulary most_frequent(const Vocabulary& vocabulary, const std::vector<std::string>& texts, std::size_t size) {
  std::vector<std::uint64_t> counts(vocabulary.size(), 0);
  const bert::Tokenizer tokenizer(vocabulary, {});
  for (const std::string& text : texts) {
    for (const std::int32_t id : tokenizer.ids(text)) ++counts[static_cast<std::size_t>(id)];
    // A long piece that is left out is written with these.
    for (const std::string& word : tokenizer.words(text)) {
      for (const char32_t letter : bert::to_utf32(word)) {
        std::string piece;
        bert::append_utf8(letter, piece);
        if (const auto id = vocabulary.find(piece)) ++counts[static_cast<std::size_t>(*id)];
        if (const auto id = vocabulary.find(std::string(kContinues) + piece)) ++counts[static_cast<std::size_t>(*id)];
      }
    }
  }
  std::vector<std::size_t> order(vocabulary.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](std::size_t id) {
    const bool always = vocabulary.is_special(static_cast<std::int64_t>(id));
    const bool is_letter = counts[id] > 0 && is_one_character(vocabulary.piece(static_cast<std::int64_t>(id)));
    return std::pair(always ? 2 : is_letter ? 1 : 0, counts[id]);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) > rank(b); });
  std::erase_if(order, [&](std::size_t id) { return rank(id) == std::pair(0, std::uint64_t{0}); });
  order.resize(std::min(order.size(), std::max(size, std::size(kSpecialPieces))));
  std::sort(order.begin(), order.end());
  std::vector<std::string> pieces;
  for (const std::size_t id : order) pieces.push_back(vocabulary.piece(static_cast<std::int64_t>(id)));
  return Vocabulary(std::move(pieces), "the most frequent pieces");
}

}  // namespace tiny_bert
