#include "cli/ranks.h"

#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "cli/setup.h"

namespace bert {
namespace {

Launch launch_of(const RankOptions& options) {
  Launch launch = launch_from_environment();
  const std::chrono::duration<double> timeout(options.timeout_seconds);
  launch.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
  if (launch.rank > 0 && std::freopen("/dev/null", "w", stdout) == nullptr) {
    throw std::runtime_error("/dev/null cannot be opened");
  }
  return launch;
}

at::Device prepared_device(const TrainOptions& options, const Launch& launch) {
  prepare(options);
  return choose_device(options.device, launch.local_rank);
}

}  // namespace

ThisRank::ThisRank(const TrainOptions& options)
    : launch_(launch_of(options.ranks)),
      device_(prepared_device(options, launch_)),
      current_(device_),
      group_(launch_, device_.type()) {}

TrainOptions with_global_batch(TrainOptions options, int ranks) {
  if (options.global_batch == 0) options.global_batch = options.batch_size * options.accumulate * ranks;
  if (options.global_batch < ranks) {
    throw std::invalid_argument("--global-batch " + std::to_string(options.global_batch) +
                                ": expected an item or more for each of " + std::to_string(ranks) + " ranks");
  }
  return options;
}

}  // namespace bert
