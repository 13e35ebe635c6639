// ActionFixture: what tests of actions of the network share: a folder, a run, an event, the log.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "core/base/log.h"
#include "core/exchange/server_testing.h"
#include "react/actions/action_kind.h"
#include "react/network/network_actions.h"

namespace trainwarden::network {

inline actions::ParameterValue one(std::string text) {
  return std::vector<std::string>{std::move(text)};
}

class ActionFixture : public testing::Test {
 protected:
  using Parameters = std::map<std::string, actions::ParameterValue>;
  using Kind = actions::ActionOutcome::Kind;

  ActionFixture() {
    set_log_sink([this](LogLevel, std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_ += std::string(line) + "\n";
    });
  }
  ~ActionFixture() override { set_log_sink({}); }

  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  Result<std::unique_ptr<actions::Action>> try_make(const std::string& kind, Parameters values) {
    actions::RunContext run;
    run.name = "first";
    run.path = folder_.path();
    run.clock = clock_;
    for (const actions::ActionKind& candidate : network_action_kinds()) {
      if (candidate.name != kind) continue;
      actions::ActionParameters parameters(std::move(values));
      return candidate.create(parameters, run);
    }
    return Status(Code::kNotFound, kind);
  }

  std::unique_ptr<actions::Action> make(const std::string& kind, Parameters values) {
    auto action = try_make(kind, std::move(values));
    EXPECT_TRUE(action.ok()) << action.status().to_string();
    return action.ok() ? std::move(*action) : nullptr;
  }

  static actions::EventNotice notice() {
    actions::EventNotice notice;
    notice.key = "vanishinggradient-120";
    notice.event_id = "run1-7";
    notice.type = "io.trainwarden.training_job.alert.v1";
    notice.subject = "VanishingGradient";
    notice.unix_ns = 1'700'000'000'000'000'000;
    notice.run_name = "first";
    notice.run = "/runs/first";
    notice.headline = "VanishingGradient fired at step 120";
    notice.text = "l2 of <fc.weight> is 1e-9 & falling\nTry a higher learning rate.";
    notice.document = R"({"specversion":"1.0","id":"run1-7","source":"/trainwarden/host/runs/first",)"
                      R"("type":"io.trainwarden.training_job.alert.v1","subject":"Vanishing \"Größe\" 100%",)"
                      R"("datacontenttype":"application/json","data":{"seq":7,"name":"Größe"}})";
    notice.content_type = "application/cloudevents+json";
    notice.requested_by = "ledger";
    return notice;
  }

  std::string logged() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  TestFolder folder_;
  const Clock* clock_ = &system_clock();

 private:
  std::mutex mutex_;
  std::string log_;
};

// All that people could see of it.
inline std::string shown(const actions::Action& action, const actions::ActionOutcome& outcome) {
  return action.place() + "\n" + outcome.status.to_string() + "\n" + outcome.answer;
}

}  // namespace trainwarden::network
