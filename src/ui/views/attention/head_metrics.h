// What one head does, as a few numbers. A mean over the queries of one batch item each.
//
// With p the weights of a query over the keys, scaled to sum to one (a dropout may have changed their sum):
// - entropy     -Σ p ln p, in nats: 0 looks at one key, ln T at all alike. Source: Clark et al. 2019 (1906.04341), 3.
// - distance    Σ p |query - key|, in tokens. Source: Vig and Belinkov 2019 (1906.04284), equation 3.
// - sink        p of the first key. Source: Xiao et al. 2023 (2309.17453).
// - separators  p of keys that no text has, [CLS], [SEP] and such. Source: Clark et al. 2019, 3.2.
// - diagonal    p of the query itself; previous: p of the token before it.
// - drift       Jensen-Shannon divergence from the same row at the first step, in nats: 0 to ln 2.
// - nan_rows    how many rows hold a NaN or an infinity; they are left out of the rest.
// Rows of padding, and rows that are empty, are left out as well. NaN: it is not known; distance, diagonal and
// previous where queries and keys are not the same tokens, separators without labels, drift between different texts.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ui/views/attention/token_labels.h"

namespace trainwarden::views::attention {

inline constexpr std::array<std::string_view, 8> kMetricNames = {"entropy",  "distance", "sink",  "separators",
                                                                 "diagonal", "previous", "drift", "nan_rows"};
inline constexpr std::size_t kMetricCount = kMetricNames.size();
using HeadMetrics = std::array<float, kMetricCount>;
HeadMetrics no_metrics();  // all NaN

// Where the rows of a head lie in the text.
struct RowPlaces {
  std::int64_t key_length = 0;
  bool same_tokens = false;              // queries and keys are the same tokens, or the last of them
  std::int64_t first_query = 0;          // the key that query 0 is, then
  std::vector<std::int64_t> separators;  // keys
  bool has_labels = false;
  std::vector<std::uint8_t> is_padding;  // by query; empty: none is
};
RowPlaces places_of(std::int64_t query_length, std::int64_t key_length, bool masked, const TokenLabels& query_labels,
                    const TokenLabels& key_labels);

class HeadMeter {
 public:
  explicit HeadMeter(const RowPlaces& places) : places_(&places) {}
  // `first` is the same row at the first step, or empty.
  void add(std::int64_t query, std::span<const float> row, std::span<const float> first);
  HeadMetrics metrics() const;

 private:
  void add_place(std::int64_t query, std::span<const float> row, double sum);

  const RowPlaces* places_;
  std::int64_t rows_ = 0;
  std::int64_t nan_rows_ = 0;
  std::int64_t previous_rows_ = 0;
  std::int64_t drift_rows_ = 0;
  double entropy_ = 0;
  double distance_ = 0;
  double sink_ = 0;
  double separators_ = 0;
  double diagonal_ = 0;
  double previous_ = 0;
  double drift_ = 0;
};

}  // namespace trainwarden::views::attention
