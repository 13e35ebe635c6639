// What the tests of actions share.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "react/actions/action_kind.h"

namespace trainwarden::actions {

inline EventNotice sample_notice() {
  EventNotice notice;
  notice.key = "vanishinggradient-120";
  notice.event_id = "0123-7";
  notice.type = "io.trainwarden.training_job.alert.v1";
  notice.subject = "VanishingGradient";
  notice.run_name = "first";
  notice.run = "/runs/first";
  notice.headline = "VanishingGradient fired at step 120 (train 100)";
  notice.text = "3 of 8 gradients have vanished\nWhat to try: a lower learning rate";
  notice.rule = "VanishingGradient";
  notice.global_step = 120;
  notice.document = "{\"id\":\"0123-7\"}";
  notice.content_type = "application/cloudevents+json";
  notice.requested_by = "ledger";
  notice.attempt = 2;
  return notice;
}

// The local action `name`, as a user would write its parameters.
inline Result<std::unique_ptr<Action>> create_action(const std::string& name,
                                                     const std::map<std::string, std::vector<std::string>>& texts,
                                                     const RunContext& run = {}) {
  std::map<std::string, ParameterValue> values;
  for (const auto& [parameter, value] : texts) values.emplace(parameter, value);
  ActionParameters parameters(std::move(values));
  for (const ActionKind& kind : local_action_kinds()) {
    if (kind.name == name) return kind.create(parameters, run);
  }
  return Status(Code::kNotFound, name);
}

}  // namespace trainwarden::actions
