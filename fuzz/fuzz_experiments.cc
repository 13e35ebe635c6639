// The documents of experiments, whoever wrote them, and searches as a user or a program wrote them.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "work/catalogue/component_search.h"
#include "work/experiments/entities.h"

using namespace trainwarden;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto record = experiments::decode_record(text, "record"); record.ok()) {
    // What was read is within the limits, and says the same when it is written again.
    const auto again = experiments::decode_record(experiments::encode(*record), "record");
    if (!again.ok() || experiments::encode(*again) != experiments::encode(*record)) __builtin_trap();
    experiments::ComponentRecord merged = *record;
    merged.merge(*again);
  }
  if (const auto experiment = experiments::decode_experiment(text, "experiment"); experiment.ok()) {
    if (!experiments::decode_experiment(experiments::encode(*experiment), "again").ok()) __builtin_trap();
  }
  std::ignore = experiments::decode_trial(text, "trial");
  if (const auto filter = catalogue::parse_search_filter(text); filter.ok()) {
    std::ignore = catalogue::condition_of({{*filter}, {}, {}, false});
  }
  if (const auto expression = catalogue::parse_search_expression(text); expression.ok()) {
    std::ignore = catalogue::condition_of(*expression);
  }
  return 0;
}
