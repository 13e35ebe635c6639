// The child of the crash tests: trains a loop of known numbers until it is killed.
//
//   crash_child RUN_DIR LIFE SEED PIPE [CRASH_POINT COUNT]
//
// After each successful flush it writes the last step's number, 8 bytes, to the file descriptor PIPE. SEED chooses the
// durability, the size of the segments and how many steps lie between two flushes.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "crashing_storage.h"
#include "hook/capture/open_hook.h"
#include "store/storage/local_storage.h"
#include "training_pattern.h"
#include "trainwarden/hook.h"

namespace trainwarden::crash {
namespace {

struct Plan {
  HookOptions options;
  std::int64_t steps_between_flushes = 1;
};

Plan plan_of(unsigned seed) {
  Plan plan;
  plan.options.save = SavePolicy::every(1);
  plan.options.collections = {{.name = "values", .tensor_names = {kValues}},
                              {.name = "reduced", .tensor_names = {kReduced}, .keep = KeepForm::reduced()}};
  plan.options.staging_bytes = std::size_t{4} << 20;
  plan.options.when_full = WhenFull::kBlock;
  constexpr Durability kDurabilities[] = {Durability::kNone, Durability::kInterval, Durability::kStep};
  plan.options.durability = kDurabilities[seed % 3];
  constexpr std::size_t kSegmentBytes[] = {4096, 6000, 20'000, 1'000'000};
  plan.options.segment_bytes = kSegmentBytes[seed / 3 % 4];
  plan.steps_between_flushes = seed / 12 % 2 == 0 ? 1 : 5;
  return plan;
}

// Never returns while all goes well.
int train(Hook& hook, std::int64_t life, std::int64_t steps_between_flushes, int pipe) {
  for (std::int64_t step = 0;; ++step) {
    const std::vector<float> values = values_at(life, step);
    const auto view = TensorView::of(values.data(), DType::kFloat32, Shape({static_cast<std::int64_t>(values.size())}));
    hook.save_tensor(kValues, view);
    hook.save_tensor(kReduced, view);
    hook.save_scalar(kLife, static_cast<double>(life));
    hook.end_step();
    if (step % steps_between_flushes != 0) continue;
    if (const Status status = hook.flush(); !status.ok()) {
      fmt::print(stderr, "flush: {}\n", status.to_string());
      return 1;
    }
    if (::write(pipe, &step, sizeof step) != sizeof step) return 1;
  }
}

int run(int argc, char** argv) {
  if (argc != 5 && argc != 7) return 2;
  auto local = storage::open_local_storage(std::filesystem::absolute(argv[1]));
  std::shared_ptr<storage::Storage> storage;
  if (argc == 7) {
    storage = create_crashing_storage(std::move(local), argv[5], std::atoi(argv[6]));
  } else {
    storage = std::move(local);
  }
  Plan plan = plan_of(static_cast<unsigned>(std::atoi(argv[3])));
  auto hook = capture::HookOpener::open(std::move(plan.options), std::move(storage), system_clock());
  if (!hook.ok()) {
    fmt::print(stderr, "open: {}\n", hook.status().to_string());
    return 1;
  }
  return train(**hook, std::atoll(argv[2]), plan.steps_between_flushes, std::atoi(argv[4]));
}

}  // namespace
}  // namespace trainwarden::crash

int main(int argc, char** argv) {
  return trainwarden::crash::run(argc, argv);
}
