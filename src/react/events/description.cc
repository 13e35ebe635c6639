#include "react/events/description.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/log.h"
#include "core/base/no_throw.h"
#include "data/format/control_record.h"
#include "data/format/json_number.h"
#include "react/events/recorder.h"
#include "read/trial/printed_metrics.h"
#include "read/trial/trial_access.h"
#include "trainwarden/describe.h"

namespace trainwarden::events {
namespace {

using format::OrderedJson;

constexpr std::size_t kMaxMetrics = 40;  // as the source

bool is_ours(const Trial& trial) {
  return trial.recorder() == "trainwarden";
}

Result<LedgerContents> ledger_of(const Trial& trial) {
  if (!is_ours(trial)) return LedgerContents{};
  return read_ledger(TrialAccess::location(trial).storage(), TrialAccess::run_info(trial));
}

std::int64_t step_unix_ns(Trial& trial, std::int64_t global_step) {
  for (const std::string& worker : trial.workers()) {
    const std::int64_t unix_ns = TrialAccess::step_unix_ns(trial, worker, global_step);
    if (unix_ns > 0) return unix_ns;
  }
  return 0;
}

// Those that were found in the output, whose names users know from there.
void add_printed_metrics(Trial& trial, OrderedJson& list, std::set<std::string>& listed) {
  const auto metrics = trial::last_printed(trial, kMaxMetrics);
  if (!metrics.ok()) return log(LogLevel::kWarning, "printed metrics cannot be read: {}", metrics.status().to_string());
  for (const auto& [metric, last] : *metrics) {
    if (!listed.insert(metric.metric.name).second) continue;
    OrderedJson json = {{"MetricName", metric.metric.name},
                        {"Value", format::json_number(last.value)},
                        {"Timestamp", time_json(last.unix_ns, TimeForm::kText, false)}};
    if (last.step) json["Step"] = *last.step;
    list.push_back(std::move(json));
  }
}

// The last value of each number that the training reported of itself.
OrderedJson metrics_json(Trial& trial) {
  OrderedJson list = OrderedJson::array();
  std::set<std::string> listed;
  add_printed_metrics(trial, list, listed);
  for (const char* collection : {"losses", "scalars"}) {
    const auto names = trial.tensor_names({.include = {}, .collection = collection, .mode = {}, .step = {}});
    if (!names.ok()) continue;  // the run has no such collection
    for (const std::string& metric : *names) {
      if (list.size() == kMaxMetrics || !listed.insert(metric).second) continue;
      const std::vector<std::int64_t> steps = trial.steps_of(metric, Mode::kGlobal, Kept::kScalar | Kept::kValue);
      const auto value =
          steps.empty() ? Result<double>(Status(Code::kNotFound, "")) : trial.scalar(metric, steps.back());
      if (!value.ok()) continue;  // it is more than one number
      OrderedJson json = {{"MetricName", metric}, {"Value", format::json_number(*value)}};
      const std::int64_t unix_ns = step_unix_ns(trial, steps.back());
      if (unix_ns > 0) json["Timestamp"] = time_json(unix_ns, TimeForm::kText, false);
      json["Step"] = steps.back();
      list.push_back(std::move(json));
    }
  }
  return list;
}

void add_schedule(const SaveSchedule& schedule, const std::string& prefix, OrderedJson& parameters) {
  parameters[prefix + "save_interval"] = std::to_string(schedule.save_interval);
  if (schedule.start_step != 0) parameters[prefix + "start_step"] = std::to_string(schedule.start_step);
  if (schedule.end_step) parameters[prefix + "end_step"] = std::to_string(*schedule.end_step);
  if (!schedule.save_steps.empty()) {
    parameters[prefix + "save_steps"] = fmt::format("{}", fmt::join(schedule.save_steps, ","));
  }
}

// In the words of the source's CollectionParameters, all values as texts.
OrderedJson parameters_of(const Collection& collection) {
  OrderedJson parameters = OrderedJson::object();
  if (!collection.include.empty()) parameters["include_regex"] = fmt::format("{}", fmt::join(collection.include, ","));
  if (!collection.tensor_names.empty()) {
    parameters["tensor_names"] = fmt::format("{}", fmt::join(collection.tensor_names, ","));
  }
  if (!collection.save) return parameters;
  const auto& by_mode = collection.save->by_mode;
  const bool alike =
      std::all_of(by_mode.begin(), by_mode.end(), [&](const auto& other) { return other == by_mode[0]; });
  for (const Mode mode : {Mode::kTrain, Mode::kEval, Mode::kPredict, Mode::kGlobal}) {
    const auto& schedule = (*collection.save)[mode];
    if (schedule) add_schedule(*schedule, alike ? "" : fmt::format("{}.", name(mode)), parameters);
  }
  return parameters;
}

OrderedJson hook_json(const Trial& trial) {
  OrderedJson collections = OrderedJson::array();
  for (const std::string& collection_name : trial.collections()) {
    const auto collection = trial.collection(collection_name);
    if (!collection.ok()) continue;
    collections.push_back({{"CollectionName", collection_name}, {"CollectionParameters", parameters_of(*collection)}});
  }
  return {{"LocalPath", trial.path().string()}, {"CollectionConfigurations", std::move(collections)}};
}

OrderedJson rule_configurations_json(const RunView& view) {
  OrderedJson list = OrderedJson::array();
  for (const RuleRow& row : view.rules) {
    OrderedJson parameters = {{"rule_to_invoke", row.rule}};
    for (const auto& [name, value] : row.parameters) parameters[name] = value;
    list.push_back({{"RuleConfigurationName", row.rule_id}, {"RuleParameters", std::move(parameters)}});
  }
  return list;
}

// The newest state of each event at each subscriber counts.
OrderedJson deliveries_json(const LedgerContents& ledger) {
  std::map<std::string, std::map<std::uint64_t, DeliveryState>> states;
  for (const DeliveryRecord& record : ledger.deliveries) states[record.subscription][record.seq] = record.state;
  OrderedJson list = OrderedJson::array();
  for (const SubscribedRecord& subscribed : ledger.subscribed) {
    std::map<DeliveryState, std::uint64_t> counts;
    for (const auto& [seq, state] : states[subscribed.subscription]) ++counts[state];
    list.push_back({{"Name", subscribed.subscription},
                    {"Action", subscribed.action},
                    {"Place", subscribed.place},
                    {"Delivered", counts[DeliveryState::kDelivered]},
                    {"Suppressed", counts[DeliveryState::kSuppressed]},
                    {"UnderWay", counts[DeliveryState::kStarted] + counts[DeliveryState::kWaiting] +
                                     counts[DeliveryState::kRedriven]},
                    {"DeadLetters", counts[DeliveryState::kDead]}});
  }
  return list;
}

OrderedJson events_json(const LedgerContents& ledger, bool kept) {
  std::uint64_t alerts = 0;
  for (const Event& event : ledger.events) alerts += event.type == kAlertType ? 1 : 0;
  return {{"Count", ledger.events.size()},
          {"Alerts", alerts},
          {"Unreadable", ledger.unreadable},
          {"Recording", kept},
          {"Subscriptions", deliveries_json(ledger)}};
}

OrderedJson black_boxes_json(const storage::Storage& storage) {
  OrderedJson list = OrderedJson::array();
  const auto dumps = storage.list(format::kBlackBoxFolder);
  if (!dumps.ok()) return list;
  for (const std::string& dump : *dumps) {
    const std::string path = fmt::format("{}/{}", format::kBlackBoxFolder, dump);
    if (storage.exists(path + "/run.json")) list.push_back(path);
  }
  return list;
}

}  // namespace

Result<RunView> view_run(Trial& trial, const LedgerContents& recorded) {
  storage::Storage& storage = TrialAccess::location(trial).storage();
  const auto ledger = Ledger::counting(TrialAccess::run_info(trial), recorded);
  Recorder recorder(trial, storage, *ledger);
  if (is_ours(trial) && journal::has_living_writer(storage, kLedgerWriter)) recorder.await_program_end();
  TRAINWARDEN_RETURN_IF_ERROR(recorder.poll());
  return recorder.view();
}

Result<RunView> view_run(Trial& trial) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const LedgerContents recorded, ledger_of(trial));
  return view_run(trial, recorded);
}

Result<OrderedJson> describe_run(const storage::Location& run) {
  return no_throw([&]() -> Result<OrderedJson> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, TrialAccess::open(run));
    const storage::Storage& storage = run.storage();
    TRAINWARDEN_ASSIGN_OR_RETURN(const LedgerContents ledger, ledger_of(*trial));
    TRAINWARDEN_ASSIGN_OR_RETURN(const RunView view, view_run(*trial, ledger));
    OrderedJson json = job_json(view, TimeForm::kText);
    json["FinalMetricDataList"] = metrics_json(*trial);
    json["DebugHookConfig"] = hook_json(*trial);
    json["DebugRuleConfigurations"] = rule_configurations_json(view);
    json["Recorder"] = trial->recorder();
    json["RunId"] = trial->run_id();
    json["State"] = name(trial->state());
    json["Command"] = view.info.command;
    json["CodeVersion"] = view.info.code_version;
    json["Framework"] = view.info.framework;
    json["Steps"] = trial->steps().size();
    json["BlackBoxes"] = black_boxes_json(storage);
    json["Events"] = events_json(ledger, is_ours(*trial) && journal::has_living_writer(storage, kLedgerWriter));
    return json;
  });
}

}  // namespace trainwarden::events

namespace trainwarden {

Result<std::string> describe_json(const std::filesystem::path& run_dir) {
  auto json = events::describe_run(run_dir);
  if (!json.ok()) return json.status();
  return no_throw([&]() -> Result<std::string> { return format::dump_json(*json); });
}

}  // namespace trainwarden
