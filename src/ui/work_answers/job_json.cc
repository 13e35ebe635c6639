#include "ui/work_answers/job_json.h"

#include <filesystem>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/secret_mask.h"
#include "data/format/json_number.h"
#include "ui/views/shelf.h"
#include "ui/work_answers/job_logs.h"
#include "work/document/mistakes.h"
#include "work/experiments/job_component.h"
#include "work/jobs/hyperparameters.h"
#include "work/jobs/job_rules.h"
#include "work/workspace/workspace.h"

namespace trainwarden::work_answers {
namespace {

using format::OrderedJson;

std::int64_t milliseconds(std::int64_t unix_ns) {
  return unix_ns / 1'000'000;
}

OrderedJson text_or_null(const std::string& text) {
  return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

template <class Number>
OrderedJson optional_json(const std::optional<Number>& number) {
  return number ? OrderedJson(*number) : OrderedJson(nullptr);
}

void add_standing(OrderedJson& json, const jobs::Transition& now) {
  json["status"] = name(jobs::status_of(now.status));
  json["secondary_status"] = name(now.status);
  json["message"] = now.message;
  json["changed_unix_ms"] = milliseconds(now.unix_ns);
}

// The catalogue keeps an object as text.
OrderedJson parameters_of(const std::string& text) {
  OrderedJson object = OrderedJson::parse(text, nullptr, false);
  if (!object.is_object()) return OrderedJson::object();
  for (auto& [name, value] : object.items()) {
    if (value.is_string()) value = process_mask().mask.value(name, value.get<std::string>());
  }
  return object;
}

// What a table shows of them: thousands of rows go to a page every few seconds.
OrderedJson summaries_json(const catalogue::MetricsByName& metrics) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, metric] : metrics) {
    OrderedJson& numbers =
        json[name] = {{"last", format::json_number(metric.last)}, {"min", nullptr}, {"max", nullptr}};
    if (metric.finite == 0) continue;
    numbers["min"] = metric.min;
    numbers["max"] = metric.max;
  }
  return json;
}

OrderedJson transitions_json(const std::vector<jobs::Transition>& transitions) {
  OrderedJson list = OrderedJson::array();
  for (const jobs::Transition& one : transitions) {
    list.push_back({{"secondary_status", name(one.status)},
                    {"unix_ms", milliseconds(one.unix_ns)},
                    {"cause", one.cause},
                    {"message", one.message}});
  }
  return list;
}

OrderedJson exit_json(const std::optional<jobs::JobExit>& exit) {
  if (!exit) return nullptr;
  return {{"code", optional_json(exit->code)},
          {"signal", optional_json(exit->signal)},
          {"stopped_by_rule", exit->stopped_by_rule},
          {"killed", exit->killed},
          {"text", jobs::how_it_ended(*exit)}};
}

std::filesystem::path whole_path(const storage::Location& place) {
  std::filesystem::path path = place.absolute().path().lexically_normal();
  return path.has_filename() ? path : path.parent_path();  // "runs/"
}

OrderedJson logs_json(const jobs::JobRecord& job) {
  OrderedJson list = OrderedJson::array();
  for (const JobLog& log : list_job_logs(job)) {
    list.push_back({{"id", log.id}, {"kind", log.kind}, {"name", log.name}, {"bytes", log.bytes}});
  }
  return list;
}

OrderedJson rules_json(const std::vector<jobs::JobRule>& rules, const jobs::Transition& now) {
  OrderedJson list = OrderedJson::array();
  for (const jobs::JobRule& recorded : rules) {
    const jobs::JobRule rule = jobs::settled_rule(recorded, now);
    list.push_back({{"id", rule.id},
                    {"status", rule.status},
                    {"details", rule.details},
                    {"changed_unix_ms", milliseconds(rule.changed_unix_ns)},
                    {"alerts", rule.alerts},
                    {"step", rule.step < 0 ? OrderedJson(nullptr) : OrderedJson(rule.step)},
                    {"log", rule_log_id(rule.id)}});
  }
  return list;
}

OrderedJson resources_json(const jobs::Resources& resources) {
  return {{"nodes", resources.nodes},
          {"tasks_per_node", resources.tasks_per_node},
          {"cpus", optional_json(resources.cpus)},
          {"gpus", optional_json(resources.gpus)},
          {"memory_bytes", optional_json(resources.memory_bytes)}};
}

// What the user's file says; a file that was written for another version may say less.
void add_spec(OrderedJson& json, const jobs::JobRecord& job) {
  const jobs::JobSpec spec = workspace::spec_of(job).value_or(jobs::JobSpec());
  OrderedJson parameters = OrderedJson::object();
  for (const auto& [name, value] : spec.hyperparameters) {
    parameters[name] = process_mask().mask.value(name, jobs::argument_text(value));
  }
  json["hyperparameters"] = std::move(parameters);
  json["resources"] = resources_json(spec.resources);
  json["experiment"] = text_or_null(spec.experiment.experiment);
  json["trial"] = text_or_null(spec.experiment.trial);
  json["component"] =
      text_or_null(spec.experiment.experiment.empty() ? "" : experiments::component_of_job(job.order().name));
  json["spec_file"] = job.order().spec_file;
  json["spec"] = mask_secrets(job.order().spec);
}

}  // namespace

OrderedJson run_json(const std::string& run, const answers::Services& services) {
  const std::filesystem::path path = whole_path(run);
  const std::string name = path.filename();
  const bool is_shown = path.parent_path() == whole_path(services.shelf.place());
  return {{"name", name}, {"path", run}, {"id", is_shown ? OrderedJson(views::run_id_of(name)) : OrderedJson(nullptr)}};
}

OrderedJson row_json(const catalogue::CataloguedJob& job, const catalogue::MetricsByName& metrics) {
  OrderedJson json = {{"name", job.name}};
  if (!job.unreadable.ok()) {
    json["error"] = job.unreadable.message();
    return json;
  }
  add_standing(json, job.now);
  json["submitted_unix_ms"] = milliseconds(job.submitted_unix_ns);
  json["experiment"] = text_or_null(job.experiment);
  json["hyperparameters"] = parameters_of(job.hyperparameters);
  json["ran_ms"] = milliseconds(job.ran_ns);
  json["metrics"] = summaries_json(metrics);
  return json;
}

Result<OrderedJson> job_json(const WorkDesk::JobNow& job, const answers::Services& services) {
  const jobs::JobOrder& order = job.record.order();
  const jobs::Transition& now = job.transitions.back();
  const int attempt = jobs::attempt_of(job.transitions);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto exit, job.record.read_exit(attempt));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto rules, jobs::JobRules(job.record.place()).list());
  OrderedJson json = {{"name", order.name}};
  add_standing(json, now);
  json["submitted_unix_ms"] = milliseconds(order.submitted_unix_ns);
  json["ran_ms"] = milliseconds(jobs::run_ns_of(job.transitions, system_clock().unix_ns()));
  json["attempt"] = attempt;
  json["host"] = order.host;
  json["program"] = process_mask().mask.arguments(order.program);
  json["folder"] = order.folder;
  json["max_run_seconds"] = order.max_run_seconds;
  json["run"] = run_json(order.run, services);
  add_spec(json, job.record);
  json["exit"] = exit_json(exit);
  json["transitions"] = transitions_json(job.transitions);
  json["rules"] = rules_json(rules, now);
  json["logs"] = logs_json(job.record);
  json["can_stop"] = jobs::may_follow(now.status, jobs::JobPhase::kStopping);
  json["can_resume"] = jobs::is_terminal(now.status) && jobs::may_follow(now.status, jobs::JobPhase::kRestarting);
  return json;
}

OrderedJson standing_json(const jobs::JobRecord& job, const jobs::Transition& now) {
  OrderedJson json = {{"name", job.order().name}};
  add_standing(json, now);
  return json;
}

}  // namespace trainwarden::work_answers
