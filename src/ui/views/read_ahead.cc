#include "ui/views/read_ahead.h"

#include <chrono>
#include <thread>

#include "core/base/clock.h"
#include "ui/views/run_steps.h"
#include "ui/views/series.h"

namespace trainwarden::views {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostLossesAhead = 4;
constexpr std::chrono::nanoseconds kAheadFor = 2s;
constexpr std::chrono::nanoseconds kAheadPiece = 20ms;
constexpr auto kAheadPause = 1ms;  // long enough for who waits for the run to get it

std::vector<std::string> losses_of(OpenRun& run) {
  const auto use = run.use();
  if (!use.ok()) return {};
  use->memory<RunStepsMemory>().read(use->trial());
  std::vector<std::string> names =
      use->trial().tensor_names({.include = {}, .collection = "losses", .mode = {}, .step = {}}).value_or({});
  if (names.size() > kMostLossesAhead) names.resize(kMostLossesAhead);
  return names;
}

// False when nothing is left to read, or nothing can be.
bool read_piece(OpenRun& run, const std::string& tensor) {
  const auto use = run.use();
  if (!use.ok()) return false;
  SeriesQuestion question;
  question.tensor = tensor;
  question.buckets = 1;
  const auto series = read_series_by_mode(*use, question, kAheadPiece);
  return series.ok() && series->front().left > 0;
}

}  // namespace

bool read_losses_ahead(OpenRun& run, const std::function<bool()>& should_end) {
  const std::int64_t deadline_ns = system_clock().steady_ns() + kAheadFor.count();
  for (const std::string& tensor : losses_of(run)) {
    while (read_piece(run, tensor)) {
      if (should_end()) return false;
      if (system_clock().steady_ns() >= deadline_ns) return true;
      std::this_thread::sleep_for(kAheadPause);
    }
  }
  return true;
}

}  // namespace trainwarden::views
