#include "ui/cli/options/control_options.h"

#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "react/actions/action_kind.h"
#include "ui/cli/terminal/status_line.h"

namespace trainwarden::cli {
namespace {

constexpr std::int64_t kQuietNs = 500'000'000;

std::string duration_text(std::chrono::milliseconds time) {
  return time.count() % 60'000 == 0 ? fmt::format("{}m", time.count() / 60'000)
                                    : fmt::format("{:g}s", static_cast<double>(time.count()) / 1000);
}

}  // namespace

CLI::Option* add_duration_option(CLI::App& command, const char* name, std::chrono::milliseconds& time,
                                 const std::string& description) {
  const auto set = [&time, name](const std::string& text) {
    const auto parsed = actions::parse_duration(text);
    if (!parsed.ok()) throw CLI::ValidationError(name, parsed.status().message());
    time = *parsed;
  };
  return command
      .add_option_function<std::string>(name, set, fmt::format("{} (default: {})", description, duration_text(time)))
      ->type_name("TIME");
}

void add_control_options(CLI::App& command, ControlOptions& options, const char* what_is_waited_for) {
  add_run_choice(command, options.run);
  command.add_option("--reason", options.reason, "Why, for everybody who reads the run")->type_name("TEXT");
  command
      .add_option("--key", options.key, "Names the request: the same key asks once, however often the command is run")
      ->type_name("KEY");
  command.add_flag(
      "--wait,!--no-wait", options.wait,
      fmt::format("Wait for {} (the default); --no-wait leaves once the request is there", what_is_waited_for));
  add_duration_option(command, "--timeout", options.timeout, "How long to wait: 30s, 10m, 1.5h");
  add_json_flag(command, options.json);
}

std::string requested_by() {
  const char* const user = std::getenv("USER");
  return user == nullptr || *user == '\0' ? "user" : fmt::format("user {}", printable(user));
}

std::function<void()> waiting_line(const std::string& what) {
  const auto line = std::make_shared<StatusLine>(stderr, terminal_of(stderr));
  const std::int64_t start_ns = system_clock().steady_ns();
  return [line, what, start_ns, shown_s = std::int64_t{-1}]() mutable {
    const std::int64_t passed_ns = system_clock().steady_ns() - start_ns;
    if (passed_ns < kQuietNs || passed_ns / 1'000'000'000 == shown_s) return;
    shown_s = passed_ns / 1'000'000'000;
    line->show(fmt::format("waiting for {}, {} s", what, shown_s));
  };
}

}  // namespace trainwarden::cli
