// Figures of the views: what a look at attention costs on the server's side, with the weights made of queries and keys.
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench.h"
#include "core/base/clock.h"
#include "store/journal/journal_writer.h"
#include "store/storage/local_storage.h"
#include "temporary_folder.h"
#include "ui/views/attention/head_look.h"
#include "ui/views/attention/survey.h"
#include "ui/views/attention/tiles.h"

namespace trainwarden::bench {
namespace {

using namespace views::attention;

constexpr int kRounds = 5;

void must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

std::vector<float> some_numbers(std::int64_t count, double phase) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(std::sin(12.9898 * static_cast<double>(i) + phase));
  return numbers;
}

// A run on disk with queries and keys [1, heads, tokens, size] of some layers, at one step.
class CapturedRun {
 public:
  CapturedRun(std::int64_t layers, std::int64_t heads, std::int64_t tokens, std::int64_t size) {
    journal::RunInfo info;
    info.id = "00112233445566778899aabbccddeeff";
    const auto storage = storage::open_local_storage(folder_.path());
    must(journal::create_or_join_run(*storage, info).status());
    journal::JournalOptions options;
    options.writer = "rank-00000";
    auto writer = journal::JournalWriter::open(*storage, system_clock(), info, options);
    must(writer.status());
    const std::vector<float> query = some_numbers(heads * tokens * size, 1);
    const std::vector<float> key = some_numbers(heads * tokens * size, 2);
    journal::StepBatch batch;
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
      batch.new_names.push_back({2 * layer, fmt::format("layer.{}.query", layer), {}});
      batch.new_names.push_back({2 * layer + 1, fmt::format("layer.{}.key", layer), {}});
      const Shape shape{1, heads, tokens, size};
      batch.tensors.push_back({2 * layer, DType::kFloat32, shape, std::as_bytes(std::span(query)), {}});
      batch.tensors.push_back({2 * layer + 1, DType::kFloat32, shape, std::as_bytes(std::span(key)), {}});
    }
    must((*writer)->append_step(batch));
    must((*writer)->seal());
  }

  // Opened anew, so that nothing is remembered.
  RunAttention open() const {
    auto trial = Trial::open(folder_.path());
    must(trial.status());
    return {std::make_shared<views::OpenRun>("bench", *std::move(trial)), {}};
  }

 private:
  TemporaryFolder folder_;
};

Figure figure_of(std::string name, std::vector<double> samples_ms, Goal goal, std::string limit) {
  return {std::move(name), spread_of(std::move(samples_ms)), "ms", goal, std::move(limit)};
}

Result<std::vector<Figure>> measure_row() {
  const CapturedRun run(1, 1, 4096, 128);
  const RunAttention attention = run.open();
  must(look_at_heads(attention, {.queries = std::vector<std::int64_t>{0}}).status());  // the map is guessed once
  std::vector<double> samples_ms;
  for (std::int64_t query = 0; query < 100; ++query) {
    samples_ms.push_back(elapsed_ns([&] {
                           const auto look =
                               look_at_heads(attention, {.queries = std::vector<std::int64_t>{query * 40}});
                           must(look.status());
                           keep(look->weights);
                         }) /
                         1e6);
  }
  return std::vector<Figure>{figure_of("views.attention_row_ms", std::move(samples_ms), at_most(1),
                                       "copying the keys of 4,096 tokens, 2 MiB")};
}

Result<std::vector<Figure>> measure_atlas() {
  const CapturedRun run(12, 12, 512, 64);
  std::vector<double> samples_ms;
  for (int round = 0; round < kRounds; ++round) {
    const RunAttention attention = run.open();
    samples_ms.push_back(elapsed_ns([&] { must(look_at_atlas(attention, {}, 0, 32).status()); }) / 1e6);
  }
  return std::vector<Figure>{
      figure_of("views.attention_atlas_ms", std::move(samples_ms), at_most(2000),
                "exponentials and logarithms of the 37,748,736 weights of 144 heads at 512 tokens")};
}

Result<std::vector<Figure>> measure_tiles() {
  const CapturedRun run(1, 1, 4096, 128);
  std::vector<double> coarse_ms;
  std::vector<double> fine_ms;
  for (int round = 0; round < kRounds; ++round) {
    const RunAttention attention = run.open();
    coarse_ms.push_back(elapsed_ns([&] { must(look_at_tile(attention, {.level = 4}).status()); }) / 1e6);
    fine_ms.push_back(elapsed_ns([&] { must(look_at_tile(attention, {.level = 0}).status()); }) / 1e6);
  }
  return std::vector<Figure>{
      figure_of("views.attention_tiles_ms", std::move(coarse_ms), at_most(1500),
                "all 16,777,216 weights of a head of 4,096 tokens"),
      figure_of("views.attention_tiles_ms.fine", std::move(fine_ms), at_most(100), "256 rows of 4,096 weights"),
  };
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"views.attention_row_ms", measure_row},
          {"views.attention_atlas_ms", measure_atlas},
          {"views.attention_tiles_ms", measure_tiles}};
}

}  // namespace trainwarden::bench
