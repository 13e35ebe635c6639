// The list of runs, one run, its steps.
#include <chrono>
#include <cmath>

#include "ui/answers/replies.h"
#include "ui/answers/route.h"
#include "ui/views/profile/profile_now.h"
#include "ui/views/run_failure.h"
#include "ui/views/run_home.h"
#include "ui/views/run_index.h"
#include "ui/views/run_steps.h"

namespace trainwarden::answers {
namespace {

using format::OrderedJson;

// So long a first look at the list may wait for rows; what is missing then comes with the next.
constexpr std::chrono::milliseconds kIndexPatience(100);

std::int64_t milliseconds(std::int64_t unix_ns) {
  return unix_ns / 1'000'000;
}

OrderedJson loss_json(const std::optional<views::LossNow>& loss) {
  if (!loss) return nullptr;
  return {{"tensor", loss->tensor}, {"step", loss->step}, {"value", json_number(loss->value)}};
}

void add_row(OrderedJson& json, const views::RunRow& row) {
  if (!row.unreadable.ok()) {
    json["error"] = row.unreadable.message();
    return;
  }
  json["state"] = name(row.state);
  if (row.status) {
    json["status"] = name(primary_of(*row.status));
    json["secondary_status"] = name(*row.status);
  }
  json["recorder"] = row.recorder;
  json["created_unix_ms"] = milliseconds(row.created_unix_ns);
  json["last_unix_ms"] = milliseconds(row.last_unix_ns);
  json["steps"] = row.step_count;
  json["last_step"] = row.last_step;
  json["loss"] = loss_json(row.loss);
  json["rules"] = {{"count", row.rules}, {"fired", row.fired.size()}, {"fired_names", row.fired}};
  if (!row.diagnosis.empty()) json["rules"]["diagnosis"] = row.diagnosis;
  json["labels"] = row.labels;
  OrderedJson metrics = OrderedJson::object();
  for (const auto& [metric, value] : row.metrics) metrics[metric] = json_number(value);
  json["metrics"] = std::move(metrics);
}

// Four digits are enough for a line of 90 pixels.
OrderedJson course_json(const std::vector<double>& values) {
  OrderedJson list = OrderedJson::array();
  for (const double value : values) {
    const double size =
        std::isfinite(value) && value != 0 ? std::pow(10.0, 3 - std::floor(std::log10(std::fabs(value)))) : 0;
    const bool round = std::isfinite(size) && size > 0;
    list.push_back(json_number(round ? std::round(value * size) / size : value));
  }
  return list;
}

Result<Reply> list_of_runs(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::IndexedRuns runs,
                               services.shelf.memory<views::RunIndex>().runs(kIndexPatience));
  OrderedJson list = OrderedJson::array();
  for (const views::IndexedRun& run : runs.runs) {
    OrderedJson json = {{"id", run.id}, {"name", run.name}};
    if (run.row) {
      add_row(json, *run.row);
      if (run.course.values.size() > 1) json["course"] = course_json(run.course.values);
    } else {
      json["reading"] = true;
    }
    list.push_back(std::move(json));
  }
  return json_reply(
      {{"folder", services.shelf.place().address()}, {"reading", runs.reading}, {"runs", std::move(list)}});
}

Result<Reply> steps_of_run(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  const views::RunSteps steps = use.memory<views::RunStepsMemory>().read(use.trial());
  // Only where all was recorded: what died says so by its state, and one that goes on has not failed.
  const std::string failure = steps.state == RunState::kCompleted ? views::failure_of(use.trial()) : "";
  return json_reply(
      {{"state", name(steps.state)},
       {"failure", failure.empty() ? OrderedJson() : OrderedJson(failure)},
       {"loss", steps.state == RunState::kRunning ? OrderedJson() : loss_json(views::last_loss(use.trial()))},
       {"last_complete", steps.last_complete},
       {"steps", step_ranges_json(steps.steps)},
       {"modes", modes_json(steps)}});
}

OrderedJson length_json(const views::RunLength& length) {
  OrderedJson json = {{"total_steps", length.total_steps},
                      {"done_steps", length.done_steps},
                      {"label", length.label},
                      {"estimate", length.is_estimate}};
  if (length.seconds_left) json["seconds_left"] = *length.seconds_left;
  return json;
}

OrderedJson progress_json(const views::RunHome& home) {
  OrderedJson modes = OrderedJson::array();
  for (const views::ModeProgress& mode : home.modes) {
    modes.push_back({{"mode", name(mode.mode)}, {"steps", mode.steps}, {"last_mode_step", mode.last_mode_step}});
  }
  OrderedJson json = {{"steps", home.step_count},
                      {"last_step", home.last_step},
                      {"last_trained_step", home.last_trained_step},
                      {"modes", std::move(modes)}};
  if (home.steps_per_second) json["steps_per_second"] = *home.steps_per_second;
  if (home.length) json["length"] = length_json(*home.length);
  return json;
}

OrderedJson transitions_json(const events::RunView& view) {
  OrderedJson list = OrderedJson::array();
  for (const events::RunTransition& line : view.table.transitions()) {
    OrderedJson json = {{"status", name(line.status)}, {"start_unix_ms", milliseconds(line.start_unix_ns)}};
    if (line.end_unix_ns != 0) json["end_unix_ms"] = milliseconds(line.end_unix_ns);
    json["message"] = line.message;
    list.push_back(std::move(json));
  }
  return list;
}

OrderedJson rules_json(const events::RunView& view) {
  OrderedJson list = OrderedJson::array();
  for (const events::RuleRow& rule : view.rules) {
    list.push_back({{"id", rule.rule_id},
                    {"rule", rule.rule},
                    {"status", name(rule.status)},
                    {"details", rule.details.value_or("")}});
  }
  return list;
}

OrderedJson keep_json(const KeepForm& keep) {
  OrderedJson forms = OrderedJson::array();
  if (keep.values) forms.push_back("values");
  if (keep.any_statistics()) forms.push_back("statistics");
  if (keep.histogram) forms.push_back("histogram");
  if (keep.hash) forms.push_back("hash");
  if (keep.shape) forms.push_back("shape");
  return forms;
}

OrderedJson collections_json(const std::vector<views::CollectionSize>& collections) {
  OrderedJson list = OrderedJson::array();
  for (const views::CollectionSize& size : collections) {
    OrderedJson json = {{"name", size.collection.name}, {"tensors", size.tensors}};
    if (size.collection.keep) json["keep"] = keep_json(*size.collection.keep);
    if (size.collection.save) {
      OrderedJson every = OrderedJson::object();
      for (const Mode mode : {Mode::kTrain, Mode::kEval, Mode::kPredict, Mode::kGlobal}) {
        const auto& schedule = (*size.collection.save)[mode];
        if (schedule) every[std::string(name(mode))] = schedule->save_interval;
      }
      json["every"] = std::move(every);
    }
    list.push_back(std::move(json));
  }
  return list;
}

OrderedJson bills_json(const std::vector<views::WorkerBill>& bills) {
  OrderedJson list = OrderedJson::array();
  for (const views::WorkerBill& bill : bills) {
    const format::BudgetEvent& newest = bill.newest();
    list.push_back({{"worker", bill.worker},
                    {"budget", newest.budget},
                    {"share", bill.share()},
                    {"step", newest.global_step},
                    {"interval_factor", newest.interval_factor},
                    {"dropped", newest.dropped}});
  }
  return list;
}

OrderedJson losses_json(const std::vector<RunLoss>& losses) {
  OrderedJson list = OrderedJson::array();
  for (const RunLoss& loss : losses) {
    list.push_back({{"where", loss.where},
                    {"cause", loss.cause},
                    {"count", loss.count},
                    {"bytes", loss.bytes},
                    {"by_writer", loss.by_writer}});
  }
  return list;
}

OrderedJson checkpoints_json(const std::vector<views::WorkerCheckpoint>& checkpoints) {
  OrderedJson list = OrderedJson::array();
  for (const views::WorkerCheckpoint& checkpoint : checkpoints) {
    const format::CheckpointEvent& event = checkpoint.event;
    list.push_back({{"worker", checkpoint.worker},
                    {"state", views::state_text(event.state)},
                    {"step", event.global_step},
                    {"path", event.path},
                    {"bytes", event.bytes},
                    {"error", event.error},
                    {"reason", event.reason.empty() ? event.requested_by : event.reason},
                    {"unix_ms", milliseconds(checkpoint.unix_ns)}});
  }
  return list;
}

OrderedJson system_json(const views::ProfileNow& now) {
  OrderedJson usage = OrderedJson::array(), phases = OrderedJson::array();
  for (const views::UsageNow& each : now.usage) {
    usage.push_back({{"kind", each.kind},
                     {"label", each.label},
                     {"unit", each.unit},
                     {"instance", each.instance},
                     {"value", json_number(each.value)}});
  }
  for (const views::PhaseNow& each : now.phases) phases.push_back({{"phase", each.phase}, {"share", each.share}});
  return {{"usage", std::move(usage)}, {"phases", std::move(phases)}};
}

OrderedJson workers_json(const std::vector<views::WorkerHome>& workers) {
  OrderedJson list = OrderedJson::array();
  for (const views::WorkerHome& worker : workers) list.push_back({{"name", worker.name}, {"writing", worker.writing}});
  return list;
}

Result<Reply> one_run(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  const views::RunHome home = views::read_run_home(use.trial());
  OrderedJson json = {{"id", request.in_path("run")},
                      {"name", use.run().name()},
                      {"state", name(home.state)},
                      {"recorder", home.recorder},
                      {"run_id", home.run_id},
                      {"host", home.host},
                      {"framework", home.framework},
                      {"command", home.command},
                      {"labels", home.labels},
                      {"created_unix_ms", milliseconds(home.created_unix_ns)},
                      {"last_unix_ms", milliseconds(home.last_unix_ns)},
                      {"world_size", home.world_size},
                      {"workers", workers_json(home.workers)},
                      {"progress", progress_json(home)},
                      {"loss", loss_json(home.loss)}};
  if (home.view && !home.view->table.empty()) {
    json["status"] = name(primary_of(home.view->table.status()));
    json["secondary_status"] = name(home.view->table.status());
    json["transitions"] = transitions_json(*home.view);
  }
  if (home.view && home.view->stop) {
    json["stop"] = {{"reason", home.view->stop->reason}, {"requested_by", home.view->stop->requested_by}};
  }
  json["rules"] = home.view ? rules_json(*home.view) : OrderedJson::array();
  json["tensors"] = home.tensors;
  json["journal_bytes"] = home.journal_bytes;
  json["collections"] = collections_json(home.collections);
  json["bills"] = bills_json(home.bills);
  json["losses"] = losses_json(home.losses);
  json["checkpoints"] = checkpoints_json(home.checkpoints);
  json["system"] = system_json(views::profile_now(use.trial()));
  return json_reply(json);
}

}  // namespace

std::vector<Route> run_routes() {
  return {
      {Method::kGet, "/runs", list_of_runs},
      {Method::kGet, "/runs/{run}", one_run},
      {Method::kGet, "/runs/{run}/steps", steps_of_run},
  };
}

}  // namespace trainwarden::answers
