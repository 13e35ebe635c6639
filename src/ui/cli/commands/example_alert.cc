#include "ui/cli/commands/example_alert.h"

#include <fmt/format.h>

#include "react/delivery/event_notice.h"

namespace trainwarden::cli {

events::Event example_alert(const std::string& rule, std::int64_t unix_ns) {
  events::Event alert;
  alert.key = fmt::format("test-{}", unix_ns);
  alert.id = alert.key;
  alert.type = events::kAlertType;
  alert.subject = rule;
  alert.source = fmt::format("/trainwarden/test/runs/{}", kExampleRun);
  alert.unix_ns = unix_ns;
  alert.change = {events::ChangeKind::kAlert, rule, "", ""};
  alert.global_step = 0;
  alert.headline = fmt::format("TEST: this is how an alert of {} looks", rule);
  alert.text =
      "This is a test, sent by `trainwarden actions --test`. No rule has fired and no training is meant; nothing is to "
      "be done.";
  alert.data = {{"test", true}, {"TrainingJobName", kExampleRun}, {"TrainingJobStatus", "InProgress"}};
  return alert;
}

actions::EventNotice example_notice(const events::Event& alert, const delivery::Subscription& subscription) {
  actions::EventNotice notice = delivery::make_notice(alert, subscription.format, kExampleRun, kExampleRun, 1);
  notice.requested_by = "test";
  return notice;
}

}  // namespace trainwarden::cli
