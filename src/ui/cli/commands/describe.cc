// `trainwarden describe`: a run and its rules in the words of SageMaker's describe_training_job().

#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "react/events/description.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

struct DescribeOptions {
  RunChoice run;
  bool json = false;
};

// Of the document, which is ours: what is not there is shown as nothing.
std::string shown_field(const OrderedJson& json, const char* field) {
  const auto found = json.find(field);
  if (found == json.end()) return "";
  return printable(found->is_string() ? found->get<std::string>() : found->dump());
}

// "2026-11-20 15:31:43 UTC"
std::string time_text(const OrderedJson& json, const char* field) {
  const auto unix_ns = parse_rfc3339(shown_field(json, field));
  if (!unix_ns) return "";
  std::string text = format_rfc3339(*unix_ns, 0);
  text[10] = ' ';
  text.pop_back();
  return text + " UTC";
}

std::string lasted_text(const OrderedJson& transition) {
  const auto start = parse_rfc3339(shown_field(transition, "StartTime"));
  const auto end = parse_rfc3339(shown_field(transition, "EndTime"));
  return start && end ? format_duration_ns(*end - *start) : "";
}

void print_head(const OrderedJson& job) {
  const std::string status = shown_field(job, "TrainingJobStatus");
  const std::string secondary = shown_field(job, "SecondaryStatus");
  emit("{}  {}", shown_field(job, "TrainingJobName"), status);
  if (secondary != status) emit(" ({})", secondary);
  if (job.contains("FailureReason")) emit(": {}", shown_field(job, "FailureReason"));
  emit("\n");
  if (job.contains("StopReason")) {
    const OrderedJson& stop = job["StopReason"];
    emit("asked to stop by {}: {}\n", shown_field(stop, "RequestedBy"), shown_field(stop, "Reason"));
  }
  emit("{} steps, the last complete one is {}; attempt {}", shown_field(job, "Steps"), shown_field(job, "LastStep"),
       shown_field(job, "Attempts"));
  if (job.contains("TrainingTimeInSeconds")) emit("; trained for {} s", shown_field(job, "TrainingTimeInSeconds"));
  emit("\n");
  for (const auto& [name, value] : job["HyperParameters"].items()) {
    emit("  {} = {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

void print_transitions(const OrderedJson& job) {
  Table table({{"STATUS"}, {"FROM"}, {"FOR", Align::kRight}, {"WHY"}});
  for (const OrderedJson& row : job["SecondaryStatusTransitions"]) {
    table.add_row(
        {shown_field(row, "Status"), time_text(row, "StartTime"), lasted_text(row), shown_field(row, "StatusMessage")});
  }
  emit("\n{}", Lines{table.to_string()});
}

void print_rules(const OrderedJson& job) {
  Table table({{"RULE"}, {"STATUS"}, {"SINCE"}, {"DETAILS"}});
  for (const OrderedJson& rule : job["DebugRuleEvaluationStatuses"]) {
    const std::string details(trim(rule.value("StatusDetails", std::string())));
    table.add_row({shown_field(rule, "RuleConfigurationName"), shown_field(rule, "Status"),
                   time_text(rule, "LastModifiedTime"), details.substr(details.rfind('\n') + 1)});
  }
  if (!table.empty()) emit("\n{}", Lines{table.to_string()});
}

void print_metrics(const OrderedJson& job) {
  Table table({{"METRIC"}, {"LAST VALUE", Align::kRight}, {"STEP", Align::kRight}});
  for (const OrderedJson& metric : job["FinalMetricDataList"]) {
    const OrderedJson& value = metric["Value"];
    table.add_row({shown_field(metric, "MetricName"),
                   value.is_number() ? format_number(value.get<double>()) : shown_field(metric, "Value"),
                   shown_field(metric, "Step")});
  }
  if (!table.empty()) emit("\n{}", Lines{table.to_string()});
}

void print_events(const OrderedJson& job) {
  const OrderedJson& events = job["Events"];
  Table table({{"SUBSCRIPTION"},
               {"ACTION"},
               {"PLACE"},
               {"DELIVERED", Align::kRight},
               {"UNDER WAY", Align::kRight},
               {"DEAD LETTERS", Align::kRight}});
  for (const OrderedJson& subscription : events["Subscriptions"]) {
    table.add_row({shown_field(subscription, "Name"), shown_field(subscription, "Action"),
                   shown_field(subscription, "Place"), shown_field(subscription, "Delivered"),
                   shown_field(subscription, "UnderWay"), shown_field(subscription, "DeadLetters")});
  }
  if (!table.empty()) emit("\n{}", Lines{table.to_string()});
  emit("\n{} events, {} of them alerts{}\n", shown_field(events, "Count"), shown_field(events, "Alerts"),
       events.value("Recording", false) ? "; a program records them now" : "");
}

int act(const DescribeOptions& options) {
  const auto path = options.run.locate();
  if (!path.ok()) return report_error(path.status());
  const auto job = events::describe_run(*path);
  if (!job.ok()) return report_error(job.status());
  if (options.json) {
    print_json(*job);
    return kExitFine;
  }
  print_head(*job);
  print_transitions(*job);
  print_rules(*job);
  print_metrics(*job);
  print_events(*job);
  return kExitFine;
}

}  // namespace

void add_describe(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<DescribeOptions>();
  DescribeOptions& o = *options;
  CLI::App& command = add_command(app, "describe", "Say where a run and its rules stand, as SageMaker describes a job",
                                  options, action, act);
  command.group(kLookGroup);
  add_run_choice(command, o.run);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden describe first", "trainwarden describe first --json | jq -r .TrainingJobStatus",
                         "trainwarden describe first --json | jq '.DebugRuleEvaluationStatuses[]'"});
}

}  // namespace trainwarden::cli
