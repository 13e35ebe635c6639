#include "masking.h"

#include <algorithm>
#include <utility>

namespace tiny_bert {

Masker::Masker(const Vocabulary& vocabulary, std::uint64_t seed) : vocabulary_(vocabulary), random_(seed) {
  for (std::int64_t id = 0; id < static_cast<std::int64_t>(vocabulary.size()); ++id) {
    if (!vocabulary.is_special(id)) ordinary_.push_back(id);
  }
}

// Not std::uniform_int_distribution, which draws otherwise in each standard library.
std::size_t Masker::below(std::size_t count) {
  return static_cast<std::size_t>(random_() % count);
}

std::int64_t Masker::replacement_of(std::int64_t piece) {
  const std::size_t tenth = below(10);
  if (tenth < 8) return vocabulary_.mask();
  return tenth == 8 ? ordinary_[below(ordinary_.size())] : piece;
}

MaskedPieces Masker::mask(const std::vector<std::int64_t>& pieces) {
  MaskedPieces masked{pieces, std::vector<std::int64_t>(pieces.size(), kNotAsked)};
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!vocabulary_.is_special(pieces[i])) places.push_back(i);
  }
  if (places.empty()) return masked;
  const std::size_t asked = std::max<std::size_t>(1, (places.size() * 15 + 50) / 100);
  for (std::size_t i = 0; i < asked; ++i) {
    std::swap(places[i], places[i + below(places.size() - i)]);
    const std::size_t place = places[i];
    masked.answers[place] = pieces[place];
    masked.input[place] = replacement_of(pieces[place]);
  }
  return masked;
}

}  // namespace tiny_bert
