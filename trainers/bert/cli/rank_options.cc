#include "cli/rank_options.h"

#include <CLI/CLI.hpp>

namespace bert {

void add_rank_options(CLI::App& app, RankOptions& o) {
  app.add_option("--gradients", o.gradients,
                 "in which they travel between ranks: float32, or float16 in half the bytes")
      ->check(CLI::IsMember({"float32", "float16"}))
      ->capture_default_str();
  app.add_flag("--embedding-rows", o.embedding_rows,
               "of the embedding of words only those rows travel between ranks that a batch has moved");
  app.add_option("--bucket-size", o.bucket_mebibytes, "MiB of gradients that travel together")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--compare-ranks", o.comparison_interval,
                 "steps between comparisons of the ranks' weights; 0: only before checkpoints and evaluations")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--rank-timeout", o.timeout_seconds, "seconds for which a rank waits for the others")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
}

}  // namespace bert
