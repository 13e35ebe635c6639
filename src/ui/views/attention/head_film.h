// One head of a layer over the steps of a training, as a picture that moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ui/views/attention/run_attention.h"

namespace trainwarden::views::attention {

inline constexpr std::size_t kMostFilmSteps = 120;   // of more, each n-th and the last
inline constexpr std::int64_t kMostFilmTokens = 64;  // whose lines can be told apart

struct FilmQuestion {
  std::int64_t layer = 0;
  std::int64_t head = 0;
  std::int64_t item = 0;
  std::int64_t first = 20;     // tokens
  std::optional<Mode> mode{};  // steps of this mode alone
};

struct HeadFilm {
  std::string svg;
  std::vector<std::int64_t> steps;  // global, one a frame
};

// A document that any browser plays, again and again, without a script: a line for each weight from 1/32, as wide
// as the weight, and the darker. What plays no animation shows the last step. Steps without the layer are left out.
// kInvalidArgument for too many tokens, else as look_at_heads().
Result<HeadFilm> film_of_head(const RunAttention& attention, const FilmQuestion& question);

}  // namespace trainwarden::views::attention
