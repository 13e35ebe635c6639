// ActScene: what the children that judge and deliver share with the tests that kill them: where the files are, which
// rules judge, and who has subscribed. Everything follows from the step, so that the tests know what must come of it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/rules/engine.h"
#include "react/actions/run_context.h"
#include "react/delivery/subscription.h"
#include "trainwarden/status.h"

namespace trainwarden::act {

// Everything of one run, in one folder.
class ActScene {
 public:
  explicit ActScene(std::filesystem::path root) : root_(std::move(root)) {}

  std::filesystem::path run() const { return root_ / "run"; }
  // A line for each time that the subscriber was called: "KEY EVENT-ID ATTEMPT OUTCOME", OUTCOME being "begun", "done"
  // or "down". A line is whole or not there.
  std::filesystem::path log(std::string_view subscriber) const { return root_ / (std::string(subscriber) + ".log"); }
  // While this file is there, the subscriber kFlaky takes nothing.
  std::filesystem::path down() const { return root_ / "down"; }

 private:
  std::filesystem::path root_;
};

// Names of the subscriptions.
inline constexpr const char* kEverything = "everything";  // every event
inline constexpr const char* kFlaky = "flaky";            // alerts; down for a part of the time
inline constexpr const char* kStopper = "stopper";        // alerts of kAlarm; the action `stop`

// What they ask for.
std::string pattern_of(std::string_view subscription);

inline constexpr const char* kAlarm = "Alarm";  // fires at every tenth step
inline constexpr const char* kFails = "Fails";  // fails at step 21

// Judge every step: a rule that fires again and again, one that fires once, one that only notes, one that fails, one
// that finds nothing.
std::vector<rules::EngineRule> make_rules();

// Called at named moments of the recording subscribers: "in_action", "after_action".
using Moment = std::function<void(std::string_view)>;

Result<std::vector<delivery::Subscription>> make_subscriptions(const ActScene& scene, const actions::RunContext& run,
                                                               Moment moment = {});

}  // namespace trainwarden::act
