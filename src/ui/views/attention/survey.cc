#include "ui/views/attention/survey.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "ui/views/attention/attention_caches.h"
#include "ui/views/attention/head_look.h"
#include "ui/views/attention/head_rows.h"
#include "ui/views/attention/pooling.h"

namespace trainwarden::views::attention {
namespace {

// A layer at a step, and at its first step, with the tokens of both.
struct LayerPair {
  LayerValues now;
  std::optional<LayerValues> first;  // when its rows can be compared with those of now
  RowPlaces places;
};

double products_of(const LayerValues& values) {
  const auto rows = static_cast<double>(values.map.heads) * static_cast<double>(values.query_length);
  const double width = values.recomputed() ? static_cast<double>(values.map.head_size) : 1;
  return rows * static_cast<double>(values.key_length) * width;
}

bool have_same_form(const LayerValues& a, const LayerValues& b, std::int64_t item) {
  return a.query_length == b.query_length && a.key_length == b.key_length && item < b.items;
}

Result<LayerPair> read_pair(const RunAttention& attention, std::int64_t layer, std::int64_t step, std::int64_t item) {
  LayerPair pair;
  TRAINWARDEN_ASSIGN_OR_RETURN(pair.now, attention.read(layer, step, Need::kWeights));
  TRAINWARDEN_RETURN_IF_ERROR(check_index("batch item", item, pair.now.items));
  if (products_of(pair.now) > kMostSurveyProducts) {
    return Status(Code::kResourceExhausted,
                  fmt::format("{} tokens are too many to survey all heads; look at single heads as tiles or rows",
                              std::max(pair.now.query_length, pair.now.key_length)));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const TokenLabels queries, attention.query_labels(step, item, pair.now));
  TRAINWARDEN_ASSIGN_OR_RETURN(const TokenLabels keys, attention.key_labels(step, item, pair.now));
  const bool masked = pair.now.map.mask != MaskKind::kNone;
  pair.places = places_of(pair.now.query_length, pair.now.key_length, masked, queries, keys);

  TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<std::int64_t> first_step, attention.first_step_of(layer));
  if (!first_step) return pair;
  Result<LayerValues> first = attention.read(layer, *first_step, Need::kWeights);
  if (!first.ok() || !have_same_form(pair.now, *first, item)) return pair;
  TRAINWARDEN_ASSIGN_OR_RETURN(const TokenLabels first_keys, attention.key_labels(*first_step, item, *first));
  const bool both_labelled = !keys.texts.empty() && !first_keys.texts.empty();
  if (both_labelled && keys.texts != first_keys.texts) return pair;  // rows of different texts
  pair.first = *std::move(first);
  return pair;
}

// `pool` may be nullptr.
HeadMetrics survey_head(const LayerPair& pair, std::int64_t item, std::int64_t head, BlockPool* pool) {
  HeadRows rows(pair.now, item, head);
  std::optional<HeadRows> first_rows;
  std::vector<float> first;
  if (pair.first) {
    first_rows.emplace(*pair.first, item, head);
    first.resize(static_cast<std::size_t>(pair.now.key_length));
  }
  std::vector<float> row(static_cast<std::size_t>(pair.now.key_length));
  HeadMeter meter(pair.places);
  for (std::int64_t query = 0; query < pair.now.query_length; ++query) {
    rows.read(query, row);
    if (first_rows) first_rows->read(query, first);
    meter.add(query, row, first);
    if (pool != nullptr) pool->add(query, row);
  }
  return meter.metrics();
}

// Fills an atlas, layer after layer.
class Surveyor {
 public:
  Surveyor(const RunAttention& attention, const AttentionMap& map, std::int64_t step, std::int64_t item,
           std::int64_t size)
      : attention_(attention), map_(map), step_(step), item_(item), size_(size) {}

  Result<Atlas> survey() {
    Survey& survey = atlas_.survey;
    survey.layers = static_cast<std::int64_t>(map_.layers.size());
    for (const LayerMap& layer : map_.layers) survey.heads = std::max(survey.heads, layer.heads);
    const auto all = static_cast<std::size_t>(survey.layers * survey.heads);
    survey.metrics.assign(all, no_metrics());
    atlas_.max.resize(all * static_cast<std::size_t>(size_ * size_));
    atlas_.mean.resize(atlas_.max.size());
    atlas_.size = size_;
    Status last;
    std::int64_t found = 0;
    for (std::int64_t layer = 0; layer < survey.layers; ++layer) {
      const Status added = add_layer(layer);
      if (added.code() == Code::kResourceExhausted) return added;
      if (added.ok()) {
        ++found;
      } else {
        last = added;
        note(layer, added);
      }
    }
    if (found == 0 && !last.ok()) return last;
    return std::move(atlas_);
  }

 private:
  Status add_layer(std::int64_t layer) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const LayerPair pair, read_pair(attention_, layer, step_, item_));
    const LayerValues& now = pair.now;
    if (now.query_length == 0 || now.key_length == 0) return {Code::kOutOfRange, "there are no tokens"};
    if (atlas_.query_length == 0) {
      atlas_.query_length = now.query_length;
      atlas_.key_length = now.key_length;
    }
    for (std::int64_t head = 0; head < now.map.heads; ++head) {
      const std::int64_t at = layer * atlas_.survey.heads + head;
      std::optional<BlockPool> pool;
      if (size_ > 0) pool.emplace(now.query_length, now.key_length, size_, size_);
      atlas_.survey.metrics[static_cast<std::size_t>(at)] = survey_head(pair, item_, head, pool ? &*pool : nullptr);
      if (pool) put_picture(at, *pool);
    }
    return {};
  }

  void put_picture(std::int64_t at, const BlockPool& pool) {
    const std::vector<std::uint8_t> max = pool.max_bytes();
    const std::vector<std::uint8_t> mean = pool.mean_bytes();
    const auto place = static_cast<std::ptrdiff_t>(at * size_ * size_);
    std::copy(max.begin(), max.end(), atlas_.max.begin() + place);
    std::copy(mean.begin(), mean.end(), atlas_.mean.begin() + place);
  }

  void note(std::int64_t layer, const Status& why) {
    if (!atlas_.note.empty()) atlas_.note += "; ";
    atlas_.note += fmt::format("layer {}: {}", layer, why.message());
  }

  const RunAttention& attention_;
  const AttentionMap& map_;
  std::int64_t step_;
  std::int64_t item_;
  std::int64_t size_;
  Atlas atlas_;
};

std::size_t bytes_of(const Survey& survey) {
  return sizeof(Survey) + survey.metrics.size() * sizeof(HeadMetrics);
}

Result<std::shared_ptr<const Survey>> survey_of(const RunAttention& attention, const AttentionMap& map,
                                                AttentionCaches& caches, std::int64_t step, std::int64_t item) {
  const auto make = [&]() -> Result<Survey> {
    Result<Atlas> atlas = Surveyor(attention, map, step, item, 0).survey();
    if (atlas.ok()) return std::move(atlas->survey);
    // That a step cannot be measured is remembered too; the other steps can.
    return Survey{.error = fmt::format("step {}: {}", step, atlas.status().message())};
  };
  return caches.surveys.get({step, item}, make, bytes_of);
}

// 0, the last, the middle, the quarters, ...: the first few of them are spread over all.
std::vector<std::size_t> spread_order(std::size_t count) {
  std::vector<std::size_t> order;
  std::vector<bool> taken(count);
  const auto take = [&](std::size_t index) {
    if (index >= count || taken[index]) return;
    taken[index] = true;
    order.push_back(index);
  };
  if (count > 0) take(count - 1);
  for (std::size_t stride = std::bit_ceil(std::max<std::size_t>(count, 1)); stride > 0; stride /= 2) {
    for (std::size_t index = 0; index < count; index += stride) take(index);
  }
  return order;
}

}  // namespace

Result<AtlasLook> look_at_atlas(const RunAttention& attention, std::optional<std::int64_t> step, std::int64_t item,
                                std::int64_t size) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const AttentionStep place, attention.place_of(step));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto map, attention.map());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto caches, attention.caches());
  const auto make = [&]() -> Result<Atlas> { return Surveyor(attention, *map, place.step, item, size).survey(); };
  const auto atlas_bytes = [](const Atlas& atlas) { return bytes_of(atlas.survey) + 2 * atlas.max.size(); };
  TRAINWARDEN_ASSIGN_OR_RETURN(auto atlas, caches->atlases.get({place.step, item, size}, make, atlas_bytes));
  // The numbers over all steps need not be made again.
  TRAINWARDEN_RETURN_IF_ERROR(caches->surveys
                                  .get(
                                      {place.step, item}, [&]() -> Result<Survey> { return atlas->survey; }, bytes_of)
                                  .status());
  return AtlasLook{place, std::move(atlas)};
}

Result<MetricsOverSteps> measure_steps(const RunAttention& attention, std::int64_t item,
                                       std::chrono::milliseconds patience) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto map, attention.map());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto caches, attention.caches());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::int64_t> steps, attention.steps());
  MetricsOverSteps over;
  over.layers = static_cast<std::int64_t>(map->layers.size());
  for (const LayerMap& layer : map->layers) over.heads = std::max(over.heads, layer.heads);
  const std::int64_t deadline_ns = system_clock().steady_ns() + std::chrono::nanoseconds(patience).count();
  std::vector<std::shared_ptr<const Survey>> found(steps.size());
  bool has_measured = false;
  for (const std::size_t index : spread_order(steps.size())) {
    found[index] = caches->surveys.peek({steps[index], item});
    if (found[index] != nullptr || (has_measured && system_clock().steady_ns() >= deadline_ns)) continue;
    has_measured = true;
    TRAINWARDEN_ASSIGN_OR_RETURN(found[index], survey_of(attention, *map, *caches, steps[index], item));
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (found[i] == nullptr) {
      ++over.pending;
    } else if (!found[i]->error.empty()) {
      over.note = found[i]->error;
    } else {
      over.steps.push_back(steps[i]);
      over.surveys.push_back(found[i]);
    }
  }
  return over;
}

}  // namespace trainwarden::views::attention
