// Fuzzes the hook's JSON configuration, in our schema and in smdebug's: whatever the text, it becomes options or an
// error that says what is wrong, and options become a plan or such an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/log.h"
#include "hook/capture/capture_plan.h"
#include "trainwarden/hook.h"

namespace {

using namespace trainwarden;

void check_error(const Status& status) {
  if (status.code() != Code::kInvalidArgument || status.message().empty()) std::abort();
}

// The questions that training asks of a plan.
void ask(capture::CapturePlan& plan) {
  for (const std::string_view name :
       {"conv0.weight", "gradient/conv0.weight", "CrossEntropyLoss_output_0", "\xff", ""}) {
    plan.names_of(plan.membership_of(name));
  }
  for (const Mode mode : kAllModes) {
    for (const std::int64_t step : {std::int64_t{0}, std::int64_t{1}, INT64_MAX}) plan.begin_step(mode, step);
  }
  plan.wants_collection("weights");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool quiet = (set_log_sink([](LogLevel, std::string_view) {}), true);
  static_cast<void>(quiet);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto said = parse_smdebug_config(text, "input");
  if (!said.ok()) check_error(said.status());
  const auto options = parse_hook_options(text, "input");
  if (!options.ok()) {
    check_error(options.status());
    return 0;
  }
  const auto plan = capture::CapturePlan::resolve(*options);
  if (!plan.ok()) {
    check_error(plan.status());
    return 0;
  }
  ask(**plan);
  return 0;
}
