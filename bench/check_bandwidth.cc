#include "check_bandwidth.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/crc32c.h"
#include "core/base/file_descriptor.h"
#include "healthy_training.h"
#include "judge/rules/engine.h"
#include "store/journal/file_maps.h"
#include "temporary_folder.h"
#include "trainwarden/hook.h"
#include "trainwarden/statistics.h"
#include "trainwarden/trial.h"

namespace trainwarden::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 5;
constexpr std::size_t kPageBytes = 4096;

// --- the runs -------------------------------------------------------------------------------------------------------

void record(const fs::path& run, HookOptions options, std::size_t elements, int steps) {
  options.run_dir = run;
  const auto hook = required(Hook::open(options));
  Training training(*hook, elements);
  for (int step = 0; step < steps; ++step) {
    training.forward_and_backward();
    training.optimizer_steps();
    hook->end_step();
  }
  must(hook->close());
}

// As `trainwarden check` does it, but for the journal of verdicts, which is not written.
void check(const fs::path& run, const std::vector<RuleSpec>& specs) {
  journal::allow_file_maps();
  const auto trial = required(Trial::open(run));
  rules::Engine engine(*trial, required(rules::create_engine_rules(specs)), {.keep_going = true});
  must(engine.run_until_end({}));
}

std::vector<fs::path> files_of(const fs::path& run) {
  std::vector<fs::path> files;
  for (const auto& file : fs::recursive_directory_iterator(run)) {
    if (file.is_regular_file()) files.push_back(file.path());
  }
  return files;
}

// --- reading them ---------------------------------------------------------------------------------------------------

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using PageBuffer = std::unique_ptr<void, FreeMemory>;

// All bytes of the run's files, one after the other, through one buffer.
std::size_t read_files(const fs::path& run, std::size_t buffer_bytes, int flags) {
  const PageBuffer buffer(std::aligned_alloc(kPageBytes, buffer_bytes));
  std::size_t sum = 0;
  for (const fs::path& path : files_of(run)) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
    if (!file.is_open()) throw std::runtime_error(fmt::format("cannot open {}", path.string()));
    ssize_t got = 0;
    while ((got = ::read(file.get(), buffer.get(), buffer_bytes)) > 0) sum += static_cast<std::size_t>(got);
    if (got < 0) throw std::runtime_error(fmt::format("cannot read {}", path.string()));
  }
  return sum;
}

// The buffer stays in the processor's cache: no reader of the page cache that copies is faster.
std::size_t read_page_cache(const fs::path& run) {
  return read_files(run, std::size_t{256} << 10, 0);
}

std::size_t read_disk(const fs::path& run) {
  return read_files(run, std::size_t{8} << 20, O_DIRECT);
}

// Of what was written out the page cache keeps nothing.
void forget_pages(const fs::path& run) {
  for (const fs::path& path : files_of(run)) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open() || ::fdatasync(file.get()) != 0) throw std::runtime_error("cannot sync " + path.string());
    if (::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) throw std::runtime_error("cannot drop pages");
  }
}

void at_once(std::span<const fs::path> runs, const std::function<void(const fs::path&)>& work) {
  std::vector<std::jthread> threads;
  for (const fs::path& run : runs) threads.emplace_back([&work, &run] { work(run); });
}

// --- the figures ----------------------------------------------------------------------------------------------------

struct Recording {
  std::string suffix;  // of the figures' names
  std::string what;
  HookOptions options;
  std::size_t elements;
  int steps;
};

std::string at_speed(std::string_view what, double bytes, const Spread& ns) {
  return fmt::format("{} {:.2f} GB/s", what, bytes / ns.median);
}

// Of a run that the page cache does not hold, beside the faster of two ways to read it.
Figure measure_disk(const fs::path& run, const Recording& recording, const std::vector<RuleSpec>& rules) {
  const auto bytes = static_cast<double>(read_page_cache(run));
  const auto cold = [&](const std::function<void()>& work) {
    forget_pages(run);
    return elapsed_ns(work);
  };
  const std::function<double()> arms[] = {
      [&] { return cold([&] { keep(read_disk(run)); }); },
      [&] { return cold([&] { keep(read_page_cache(run)); }); },
      [&] { return cold([&] { check(run, rules); }); },
  };
  const PairedRuns times = measure_interleaved(kRounds, arms);
  const std::size_t faster = times.ns(0).median < times.ns(1).median ? 0 : 1;
  return {"rules.check_vs_disk" + recording.suffix, times.ratio(faster, 2), "ratio", at_least(0.7),
          fmt::format("{}, {:.0f} MB that are not cached: {}, {}, {} on one core", recording.what, bytes / 1e6,
                      at_speed("O_DIRECT reads", bytes, times.ns(0)),
                      at_speed("reads that the system reads ahead of", bytes, times.ns(1)),
                      at_speed("check", bytes, times.ns(2)))};
}

Figure measure_page_cache(const fs::path& run, const Recording& recording, const std::vector<RuleSpec>& rules) {
  const auto bytes = static_cast<double>(read_page_cache(run));
  const std::function<void()> arms[] = {[&] { keep(read_page_cache(run)); }, [&] { check(run, rules); }};
  const PairedRuns times = run_interleaved(kRounds, arms);
  return {"rules.check_vs_read" + recording.suffix, times.ratio(0, 1), "ratio", at_least(0.7),
          fmt::format("{}, {:.0f} MB: {}, {} on one core", recording.what, bytes / 1e6,
                      at_speed("the page cache gives", bytes, times.ns(0)), at_speed("check", bytes, times.ns(1)))};
}

// As with --jobs: a run for each core, beside as many readers of the page cache.
Figure measure_jobs(std::span<const fs::path> runs, const Recording& recording, const std::vector<RuleSpec>& rules) {
  double bytes = 0;
  for (const fs::path& run : runs) bytes += static_cast<double>(read_page_cache(run));
  const std::function<void()> arms[] = {
      [&] { at_once(runs, [](const fs::path& run) { keep(read_page_cache(run)); }); },
      [&] { at_once(runs, [&](const fs::path& run) { check(run, rules); }); },
      [&] {
        for (const fs::path& run : runs) keep(read_page_cache(run));
      },
  };
  const PairedRuns times = run_interleaved(kRounds, arms);
  return {fmt::format("rules.check_vs_read{}.jobs", recording.suffix),
          times.ratio(0, 1),
          "ratio",
          {},
          fmt::format("{}, {} runs at once: {}, {}; one reader {:.2f} of which check is {:.2f}", recording.what,
                      runs.size(), at_speed("as many readers of the page cache", bytes, times.ns(0)),
                      at_speed("check", bytes, times.ns(1)), bytes / times.ns(2).median,
                      times.ns(2).median / times.ns(1).median)};
}

std::vector<fs::path> record_runs(const fs::path& folder, const Recording& recording, unsigned count) {
  std::vector<fs::path> runs;
  for (unsigned i = 0; i < count; ++i) {
    runs.push_back(folder / fmt::format("run-{}", i));
    record(runs.back(), recording.options, recording.elements, recording.steps);
  }
  return runs;
}

std::vector<Recording> recordings() {
  HookOptions whole = statistics_of_everything();
  whole.keep = KeepForm::whole();
  return {{"", "whole values", whole, std::size_t{64} << 10, 2},
          {".statistics", "statistics of 64 elements", statistics_of_everything(), 64, 100}};
}

// What check cannot do without on every byte of a value: the CRC and one pass that sums exactly, each alone on memory
// that is not in the processor's cache. One after the other they are the limit on one core.
Figure limit_of_values() {
  std::vector<float> memory(std::size_t{64} << 20);
  std::minstd_rand random(1);
  for (float& value : memory) value = static_cast<float>(random() % 65536) / 32768 - 1;
  const double bytes = static_cast<double>(memory.size()) * sizeof(float);
  const TensorView view =
      TensorView::of(memory.data(), DType::kFloat32, Shape({static_cast<std::int64_t>(memory.size())}));
  const std::function<void()> arms[] = {
      [&] { keep(crc32c(std::as_bytes(std::span(memory)))); },
      [&] { keep(required(compute_statistics(view))); },
  };
  const PairedRuns times = run_interleaved(kRounds, arms);
  const double both_ns = times.ns(0).median + times.ns(1).median;
  const auto speed = [&](double ns) { return bytes / ns; };
  return {"rules.check_vs_read.limit",
          {speed(both_ns), speed(both_ns), speed(both_ns)},
          "GB/s",
          {},
          fmt::format("a core that makes the CRC ({:.1f} GB/s) and then the exact statistics ({:.1f} GB/s) of memory "
                      "that is not in its cache; check can come no higher for values",
                      speed(times.ns(0).median), speed(times.ns(1).median))};
}

}  // namespace

Result<std::vector<Figure>> check_vs_disk() {
  std::vector<Figure> figures;
  for (const Recording& recording : recordings()) {
    const TemporaryFolder folder;
    const std::vector<fs::path> runs = record_runs(folder.path(), recording, 1);
    figures.push_back(measure_disk(runs.front(), recording, default_rules()));
  }
  return figures;
}

Result<std::vector<Figure>> check_vs_read() {
  std::vector<Figure> figures;
  for (const Recording& recording : recordings()) {
    const TemporaryFolder folder;
    const std::vector<fs::path> runs =
        record_runs(folder.path(), recording, std::max(2u, std::thread::hardware_concurrency()));
    figures.push_back(measure_page_cache(runs.front(), recording, default_rules()));
    figures.push_back(measure_jobs(runs, recording, default_rules()));
  }
  figures.push_back(limit_of_values());
  return figures;
}

}  // namespace trainwarden::bench
