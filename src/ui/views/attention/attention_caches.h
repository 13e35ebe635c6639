// What is remembered of a run's attention between two looks.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "trainwarden/tensor_value.h"
#include "ui/views/attention/bounded_cache.h"
#include "ui/views/attention/survey.h"
#include "ui/views/attention/tiles.h"

namespace trainwarden::views::attention {

struct AttentionCaches {
  static constexpr std::size_t kValueBytes = 256U << 20;
  static constexpr std::size_t kPictureBytes = 64U << 20;
  using StepAndItem = std::pair<std::int64_t, std::int64_t>;

  BoundedCache<std::pair<std::string, std::int64_t>, SharedTensorValue> values{kValueBytes};  // by tensor and step
  BoundedCache<StepAndItem, Survey> surveys{kPictureBytes};
  BoundedCache<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Atlas> atlases{kPictureBytes};  // and by size
  BoundedCache<HeadPlace, Pyramid> pyramids{kPictureBytes};
  BoundedCache<std::tuple<HeadPlace, std::int64_t, std::int64_t>, TileStrip> strips{
      kPictureBytes};  // level, row of tiles
};

}  // namespace trainwarden::views::attention
