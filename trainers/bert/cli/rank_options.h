// How a training by several processes exchanges what it does.
#pragma once

#include <cstdint>
#include <string>

#include <CLI/App.hpp>

namespace bert {

struct RankOptions {
  std::string gradients = "float32";       // in which they travel: float32, float16
  bool embedding_rows = false;             // of the embedding of words only the rows travel that a batch has moved
  std::int64_t bucket_mebibytes = 25;      // of gradients that travel together
  std::int64_t comparison_interval = 100;  // steps between comparisons of the ranks' weights, beside those before
                                           // checkpoints and evaluations; 0: none
  double timeout_seconds = 300;            // for which a rank waits for the others
};

void add_rank_options(CLI::App& app, RankOptions& options);

}  // namespace bert
