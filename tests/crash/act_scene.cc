#include "act_scene.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "react/actions/action_kind.h"
#include "react/events/event.h"

namespace trainwarden::act {
namespace {

using std::chrono::milliseconds;
using Judge = Verdict (*)(std::int64_t step);

class StepRule final : public Rule {
 public:
  explicit StepRule(Judge judge) : judge_(judge) {}
  Verdict evaluate(const StepWindow& window) override { return judge_(window.global_step()); }

 private:
  const Judge judge_;
};

Verdict fired(Severity severity, std::int64_t step) {
  return {.outcome = Outcome::kFired,
          .severity = severity,
          .message = fmt::format("It fires at step {}.", step),
          .advice = "Look at the step.",
          .evidence = {}};
}

rules::EngineRule rule(const char* name, Judge judge) {
  return {.spec = {name, {}}, .rule = std::make_unique<StepRule>(judge)};
}

// Writes down that it was called, and takes some time: the moment between `begun` and `done` is when a kill hurts most.
class RecordingAction final : public actions::Action {
 public:
  RecordingAction(std::string name, std::filesystem::path log, std::filesystem::path down, Moment moment)
      : name_(std::move(name)), log_(std::move(log)), down_(std::move(down)), moment_(std::move(moment)) {}

  std::string_view name() const override { return name_; }
  std::string place() const override { return log_.string(); }
  actions::ActionOutcome run(const actions::EventNotice& notice, std::stop_token) override {
    if (!down_.empty() && std::filesystem::exists(down_)) {
      write_down(notice, "down");
      return actions::ActionOutcome::try_again(Status(Code::kUnavailable, "the subscriber is down"), "down");
    }
    write_down(notice, "begun");
    moment_("in_action");
    std::this_thread::sleep_for(kTime);  // the work that an action has, during which it may be killed
    write_down(notice, "done");
    moment_("after_action");
    return actions::ActionOutcome::done("taken");
  }

 private:
  static constexpr std::chrono::microseconds kTime{500};

  void write_down(const actions::EventNotice& notice, const char* outcome) const {
    const std::string line = fmt::format("{} {} {} {}\n", notice.key, notice.event_id, notice.attempt, outcome);
    const int file = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
    ::close(file);
  }

  const std::string name_;
  const std::filesystem::path log_;
  const std::filesystem::path down_;  // empty: it is never down
  const Moment moment_;
};

// Quick, for a test; the growth from one delay to the next is that of the real ones.
constexpr delivery::RetryPolicy kQuickRetries{
    .first_delay = milliseconds(1), .longest_delay = milliseconds(20), .max_attempts = 1'000'000};

Result<delivery::Subscription> subscription(std::string name, std::unique_ptr<actions::Action> action) {
  TRAINWARDEN_ASSIGN_OR_RETURN(match::Pattern pattern, match::Pattern::parse(pattern_of(name)));
  return delivery::Subscription{
      .name = std::move(name), .pattern = std::move(pattern), .action = std::move(action), .retry = kQuickRetries};
}

Result<std::unique_ptr<actions::Action>> make_stop(const actions::RunContext& run) {
  for (const actions::ActionKind& kind : actions::local_action_kinds()) {
    if (kind.name != "stop") continue;
    actions::ActionParameters parameters({});
    return kind.create(parameters, run);
  }
  return Status(Code::kNotFound, "there is no action stop");
}

}  // namespace

std::string pattern_of(std::string_view subscription) {
  if (subscription == kEverything) return R"({"specversion": ["1.0"]})";
  if (subscription == kFlaky) return fmt::format(R"({{"type": ["{}"]}})", events::kAlertType);
  return fmt::format(R"({{"type": ["{}"], "subject": ["{}"]}})", events::kAlertType, kAlarm);
}

std::vector<rules::EngineRule> make_rules() {
  std::vector<rules::EngineRule> rules;
  rules.push_back(
      rule(kAlarm, [](std::int64_t step) { return step % 10 == 7 ? fired(Severity::kWarning, step) : Verdict::ok(); }));
  rules.push_back(
      rule("Once", [](std::int64_t step) { return step == 33 ? fired(Severity::kError, step) : Verdict::ok(); }));
  rules.push_back(
      rule("Notes", [](std::int64_t step) { return step % 25 == 3 ? fired(Severity::kInfo, step) : Verdict::ok(); }));
  rules.push_back(rule(
      kFails, [](std::int64_t step) { return step == 21 ? Verdict::error("It fails at step 21.") : Verdict::ok(); }));
  rules.push_back(rule("Calm", [](std::int64_t) { return Verdict::ok(); }));
  return rules;
}

Result<std::vector<delivery::Subscription>> make_subscriptions(const ActScene& scene, const actions::RunContext& run,
                                                               Moment moment) {
  if (!moment) moment = [](std::string_view) {};
  const auto recording = [&](const char* name, std::filesystem::path down) {
    return subscription(name, std::make_unique<RecordingAction>(name, scene.log(name), std::move(down), moment));
  };
  std::vector<delivery::Subscription> all;
  TRAINWARDEN_ASSIGN_OR_RETURN(auto everything, recording(kEverything, {}));
  all.push_back(std::move(everything));
  TRAINWARDEN_ASSIGN_OR_RETURN(auto flaky, recording(kFlaky, scene.down()));
  all.push_back(std::move(flaky));
  TRAINWARDEN_ASSIGN_OR_RETURN(auto stop, make_stop(run));
  TRAINWARDEN_ASSIGN_OR_RETURN(auto stopper, subscription(kStopper, std::move(stop)));
  all.push_back(std::move(stopper));
  return all;
}

}  // namespace trainwarden::act
