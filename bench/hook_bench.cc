// What the hook costs the training thread: tensors that are not wanted, and tensors that are kept.
//
// The hooks run dry: everything is decided, copied and handed over, and nothing is written, so that no disk is
// measured.
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench.h"
#include "trainwarden/hook.h"

namespace trainwarden::bench {
namespace {

constexpr int kRounds = 61;

Result<std::unique_ptr<Hook>> dry_hook(const SavePolicy& save) {
  HookOptions options;
  options.dry_run = true;
  options.include = {"^kept"};
  options.save = save;
  return Hook::open(std::move(options));
}

// Names as long and as many as those of a transformer.
std::vector<std::string> unwanted_names() {
  std::vector<std::string> names;
  for (int layer = 0; layer < 24; ++layer) {
    for (const char* part :
         {"query.weight", "query.bias", "key.weight", "value.weight", "dense.weight", "dense.bias"}) {
      names.push_back(fmt::format("encoder.layer.{}.attention.self.{}", layer, part));
    }
  }
  return names;
}

Spread divided(Spread spread, double divisor) {
  return {spread.low / divisor, spread.median / divisor, spread.high / divisor};
}

Result<std::vector<Figure>> skip_ns() {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto busy, dry_hook(SavePolicy::every(1)));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto idle, dry_hook(SavePolicy::of(SaveSchedule{.end_step = 0})));
  const std::vector<std::string> names = unwanted_names();
  std::vector<TensorId> ids;
  for (const std::string& name : names) ids.push_back(busy->declare(name));
  const std::vector<float> values(256);
  const auto view = TensorView::of(values.data(), DType::kFloat32, Shape({16, 16}));

  constexpr int kRepeats = 200;
  const auto for_all = [](const auto& tensors, Hook& hook, const TensorView& tensor_view) {
    return [&tensors, &hook, &tensor_view] {
      for (int i = 0; i < kRepeats; ++i) {
        for (const auto& tensor : tensors) hook.save_tensor(tensor, tensor_view);
      }
    };
  };
  const auto end_steps = [&] {
    for (int i = 0; i < kRepeats; ++i) idle->end_step();
  };
  const auto ask = [&] {
    std::size_t wanted = 0;
    for (int i = 0; i < kRepeats; ++i) {
      for (std::size_t j = 0; j < names.size(); ++j) wanted += idle->wants_anything() ? 1 : 0;
    }
    keep(wanted);
  };
  const std::function<void()> arms[] = {for_all(names, *busy, view), for_all(ids, *busy, view),
                                        for_all(names, *idle, view), ask, end_steps};
  const PairedRuns runs = run_interleaved(kRounds, arms);
  const double calls = static_cast<double>(kRepeats) * static_cast<double>(names.size());
  return std::vector<Figure>{
      {"hook.skip_ns", divided(runs.ns(0), calls), "ns", at_most(100),
       "hashing the name and comparing it once; 144 names of about 40 bytes at a step that keeps other tensors"},
      {"hook.skip_ns.by_id", divided(runs.ns(1), calls), "ns", at_most(100), "three dependent loads"},
      {"hook.skip_ns.idle_step", divided(runs.ns(2), calls), "ns", at_most(100),
       "one load: at a step at which nothing is wanted no name is looked up"},
      {"hook.skip_ns.wants_anything", divided(runs.ns(3), calls), "ns", at_most(10), "one load behind a call"},
      {"hook.skip_ns.end_step",
       divided(runs.ns(4), kRepeats),
       "ns",
       {},
       "the schedules of 12 collections, at a step in which nothing was kept"},
  };
}

// The time that this thread spends on `function`. Not the wall's: what else runs on the machine when the writer thread
// is woken is not the hook's doing.
template <class Function>
double thread_ns(Function&& function) {
  const auto now_ns = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  };
  const double begin = now_ns();
  function();
  return now_ns() - begin;
}

// Keeps the tensors of one step and returns what it took the training thread; the writer drops them outside of the
// measured time.
double keep_ns(Hook& hook, const std::vector<std::string>& names, const std::vector<TensorView>& views) {
  const double ns = thread_ns([&] {
    for (std::size_t i = 0; i < names.size(); ++i) hook.save_tensor(names[i], views[i]);
    hook.end_step();
  });
  const Status flushed = hook.flush();
  return flushed.ok() ? ns : -1;
}

Result<Figure> keep_vs_memcpy_of(std::string name, std::size_t tensor_bytes, Goal goal) {
  constexpr std::size_t kStepBytes = std::size_t{32} << 20;
  const std::size_t count = kStepBytes / tensor_bytes;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto hook, dry_hook(SavePolicy::every(1)));
  const std::vector<float> source(kStepBytes / sizeof(float), 1.0f);
  std::vector<float> warm(source.size(), 2.0f);
  std::vector<std::string> names;
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back(fmt::format("kept.layer.{}.weight", i));
    views.push_back(TensorView::of(source.data() + i * tensor_bytes / sizeof(float), DType::kFloat32,
                                   Shape({static_cast<std::int64_t>(tensor_bytes / sizeof(float))})));
  }
  const std::function<double()> arms[] = {[&] { return keep_ns(*hook, names, views); },
                                          [&] {
                                            return elapsed_ns([&] {
                                              for (std::size_t i = 0; i < count; ++i) {
                                                std::memcpy(warm.data() + i * tensor_bytes / sizeof(float),
                                                            views[i].data, tensor_bytes);
                                                keep(warm);
                                              }
                                            });
                                          }};
  const PairedRuns runs = measure_interleaved(kRounds, arms);
  if (!hook->report().losses.empty()) return Status(Code::kInternal, "the hook lost tensors while it was measured");
  return Figure{std::move(name), runs.ratio(0, 1), "ratio", goal,
                fmt::format("memory bandwidth: {} tensors of {} KiB a step, {:.1f} ms of thread time by memcpy", count,
                            tensor_bytes / 1024, runs.ns(1).median / 1e6)};
}

Result<std::vector<Figure>> keep_vs_memcpy() {
  std::vector<Figure> figures;
  TRAINWARDEN_ASSIGN_OR_RETURN(Figure one,
                               keep_vs_memcpy_of("hook.keep_vs_memcpy", std::size_t{1} << 20, at_most(1.3)));
  TRAINWARDEN_ASSIGN_OR_RETURN(Figure four,
                               keep_vs_memcpy_of("hook.keep_vs_memcpy.4MiB", std::size_t{4} << 20, at_most(1.3)));
  TRAINWARDEN_ASSIGN_OR_RETURN(Figure small, keep_vs_memcpy_of("hook.keep_vs_memcpy.64KiB", std::size_t{64} << 10, {}));
  figures.push_back(std::move(one));
  figures.push_back(std::move(four));
  figures.push_back(std::move(small));
  return figures;
}

// What a step of a small convolutional network for Fashion-MNIST has: two convolutions, two linear layers, 1.2 million
// parameters, their gradients, and what 64 images make of it.
std::vector<std::pair<std::string, std::size_t>> cnn_tensors() {
  std::vector<std::pair<std::string, std::size_t>> tensors;
  const std::pair<const char*, std::size_t> parameters[] = {
      {"conv1.weight", 32 * 9},   {"conv1.bias", 32}, {"conv2.weight", 64 * 32 * 9}, {"conv2.bias", 64},
      {"fc1.weight", 128 * 9216}, {"fc1.bias", 128},  {"fc2.weight", 10 * 128},      {"fc2.bias", 10}};
  for (const auto& [parameter, elements] : parameters) {
    tensors.emplace_back(parameter, elements);
    tensors.emplace_back(fmt::format("gradient/{}", parameter), elements);
  }
  const std::pair<const char*, std::size_t> outputs[] = {{"conv1_output_0", std::size_t{64} * 32 * 26 * 26},
                                                         {"conv2_output_0", std::size_t{64} * 64 * 24 * 24},
                                                         {"fc1_output_0", std::size_t{64} * 128},
                                                         {"fc2_output_0", std::size_t{64} * 10},
                                                         {"CrossEntropyLoss_output_0", 1}};
  for (const auto& [output, elements] : outputs) tensors.emplace_back(output, elements);
  return tensors;
}

// The same tensors into the black box and, by memcpy, into a ring of buffers that are as many and as warm.
Result<std::vector<Figure>> black_box_vs_memcpy() {
  constexpr int kSteps = 3;
  HookOptions options;
  options.dry_run = true;
  options.save = SavePolicy::of(SaveSchedule{.end_step = 0});
  options.black_box.steps = kSteps;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto hook, Hook::open(std::move(options)));
  const auto tensors = cnn_tensors();
  std::vector<std::vector<float>> sources;
  std::vector<TensorView> views;
  std::size_t bytes = 0;
  for (const auto& [name, elements] : tensors) {
    sources.emplace_back(elements, 1.0f);
    views.push_back(
        TensorView::of(sources.back().data(), DType::kFloat32, Shape({static_cast<std::int64_t>(elements)})));
    bytes += elements * sizeof(float);
  }
  std::vector<std::vector<std::byte>> ring(kSteps + 1, std::vector<std::byte>(bytes, std::byte{1}));
  std::size_t turn = 0;
  const std::function<double()> arms[] = {[&] {
                                            return thread_ns([&] {
                                              for (std::size_t i = 0; i < views.size(); ++i) {
                                                hook->save_tensor(tensors[i].first, views[i]);
                                              }
                                              hook->end_step();
                                            });
                                          },
                                          [&] {
                                            return thread_ns([&] {
                                              std::byte* to = ring[++turn % ring.size()].data();
                                              for (const TensorView& view : views) {
                                                std::memcpy(to, view.data, view.packed_bytes());
                                                to += view.packed_bytes();
                                              }
                                              keep(ring);
                                            });
                                          }};
  for (int i = 0; i <= kSteps; ++i) arms[0]();  // the first time around the memory is new
  const PairedRuns runs = measure_interleaved(kRounds, arms);
  const BlackBoxReport report = hook->report().black_box;
  if (report.missing > 0 || !report.given_up.empty()) return Status(Code::kInternal, "the black box was not whole");
  const std::string limit =
      fmt::format("memory bandwidth: {} tensors, {:.1f} MB a step", tensors.size(), static_cast<double>(bytes) / 1e6);
  return std::vector<Figure>{
      {"hook.black_box_vs_memcpy", runs.ratio(0, 1), "ratio", at_most(1.3), limit},
      {"hook.black_box_vs_memcpy.step_us", divided(runs.ns(0), 1e3), "us", {}, limit},
  };
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"hook.skip_ns", skip_ns},
          {"hook.keep_vs_memcpy", keep_vs_memcpy},
          {"hook.black_box_vs_memcpy", black_box_vs_memcpy}};
}

}  // namespace trainwarden::bench
