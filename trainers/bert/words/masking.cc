#include "words/masking.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "text/drawing.h"

namespace bert {
namespace {

constexpr double kAsked = 0.15;
constexpr std::uint64_t kMasked = 8, kReplaced = 1, kOf = 10;  // of those that are asked for

std::mt19937_64 generator_of(std::array<std::uint64_t, 3> numbers) {
  std::array<std::uint32_t, 6> halves{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    halves[2 * i] = static_cast<std::uint32_t>(numbers[i]);
    halves[2 * i + 1] = static_cast<std::uint32_t>(numbers[i] >> 32);
  }
  std::seed_seq seeds(halves.begin(), halves.end());
  return std::mt19937_64(seeds);
}

std::vector<std::size_t> maskable_places(const Pieces& window, const Vocabulary& vocabulary) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < window.size(); ++i) {
    const bool is_frame =
        window[i] == vocabulary.begin() || window[i] == vocabulary.separator() || window[i] == vocabulary.padding();
    if (!is_frame) places.push_back(i);
  }
  return places;
}

}  // namespace

MaskedPieces mask_pieces(const Pieces& window, const Vocabulary& vocabulary, std::uint64_t seed, std::uint64_t round,
                         std::uint64_t window_number) {
  std::mt19937_64 random = generator_of({seed, round, window_number});
  MaskedPieces masked{.pieces = window, .places = maskable_places(window, vocabulary), .asked = {}};
  if (masked.places.empty()) return masked;
  const long wanted = std::max(1L, std::lround(kAsked * static_cast<double>(masked.places.size())));
  for (std::size_t i = 0; i < static_cast<std::size_t>(wanted); ++i) {
    std::swap(masked.places[i], masked.places[i + draw_below(random, masked.places.size() - i)]);
  }
  masked.places.resize(static_cast<std::size_t>(wanted));
  std::sort(masked.places.begin(), masked.places.end());
  for (const std::size_t place : masked.places) {
    masked.asked.push_back(window[place]);
    const std::uint64_t drawn = draw_below(random, kOf);
    if (drawn < kMasked) {
      masked.pieces[place] = vocabulary.mask();
    } else if (drawn < kMasked + kReplaced) {
      masked.pieces[place] = static_cast<std::int32_t>(draw_below(random, vocabulary.size()));
    }
  }
  return masked;
}

}  // namespace bert
