// Rules, events and black boxes of a run; what a rule would have said; requests to the training.
#include <algorithm>

#include <fmt/format.h>

#include "judge/rules/run_diagnosis.h"
#include "react/watch/control.h"
#include "read/trial/trial_access.h"
#include "ui/answers/long_work.h"
#include "ui/answers/replies.h"
#include "ui/answers/request_body.h"
#include "ui/answers/route.h"
#include "ui/answers/rule_json.h"
#include "ui/views/black_boxes.h"
#include "ui/views/diagnosis_json.h"
#include "ui/views/event_json.h"
#include "ui/views/event_log.h"
#include "ui/views/rule_board.h"
#include "ui/views/run_failure.h"
#include "ui/views/what_if.h"

namespace trainwarden::answers {
namespace {

using format::Json;
using format::OrderedJson;

constexpr std::int64_t kMostEvents = 1'000;
constexpr std::int64_t kUsualEvents = 100;
constexpr std::size_t kMostParameters = 100;
constexpr const char* kRequestedBy = "page";

Result<Reply> get_rules(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto run, services.shelf.run(request.in_path("run")));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto board, views::rule_board(run->location()));
  OrderedJson rules = OrderedJson::array();
  for (const views::RuleOnBoard& rule : board) rules.push_back(answers::json_of(rule));
  return json_reply({{"rules", std::move(rules)}});
}

Result<Reply> get_rule_kinds(const Request& request, const Services&) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  OrderedJson kinds = OrderedJson::array();
  for (const RuleKind& kind : builtin_rules()) kinds.push_back(answers::json_of(kind.description));
  return json_reply({{"kinds", std::move(kinds)}});
}

Result<Reply> get_diagnosis(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  const diagnosis::Diagnosis diagnosis = use.memory<rules::RunDiagnosis>().now(use.trial());
  return json_reply(views::json_of(diagnosis, views::failure_of(use.trial())));
}

struct EventLogOfRun {
  std::unique_ptr<views::EventLog> log;
};

Result<views::EventLog*> event_log_of(const views::OpenRun::Use& use) {
  EventLogOfRun& memory = use.memory<EventLogOfRun>();
  if (memory.log == nullptr) {
    TRAINWARDEN_ASSIGN_OR_RETURN(memory.log, views::EventLog::open(use.run().location()));
  } else {
    TRAINWARDEN_RETURN_IF_ERROR(memory.log->refresh().status());
  }
  return memory.log.get();
}

OrderedJson events_json(const views::EventLog& log, std::size_t begin, std::size_t end) {
  std::map<std::uint64_t, std::vector<views::DeliveryStanding>> deliveries;
  for (views::DeliveryStanding& standing : log.standings()) {
    deliveries[standing.last.seq].push_back(std::move(standing));
  }
  OrderedJson events = OrderedJson::array();
  for (std::size_t i = begin; i < end; ++i) {
    const events::Event& event = log.contents().events[i];
    OrderedJson json = json_of(event, deliveries[event.seq]);
    for (std::size_t d = 0; d < deliveries[event.seq].size(); ++d) {
      json["deliveries"][d]["state_text"] = state_text(deliveries[event.seq][d], log.kept());
    }
    events.push_back(std::move(json));
  }
  return events;
}

// Those after the event `after`; the newest when it is not said.
Result<Reply> get_events(const Request& request, const Services& services) {
  const views::Query& query = request.query;
  TRAINWARDEN_RETURN_IF_ERROR(query.only({"after", "limit"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t limit, query.integer("limit", 1, kMostEvents, kUsualEvents));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t after, query.integer("after", 0, (1LL << 53) - 1, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, use_run(request, services));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::EventLog* const log, event_log_of(use));
  const std::int64_t count = static_cast<std::int64_t>(log->contents().events.size());
  const std::int64_t begin = query.has("after") ? std::min(after, count) : std::max<std::int64_t>(count - limit, 0);
  const std::int64_t end = std::min(begin + limit, count);
  return json_reply({{"events", events_json(*log, static_cast<std::size_t>(begin), static_cast<std::size_t>(end))},
                     {"last_seq", count},
                     {"recording", log->kept()},
                     {"unreadable", log->contents().unreadable},
                     {"lost_events", log->contents().lost_events}});
}

Result<Reply> get_black_boxes(const Request& request, const Services& services) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto run, services.shelf.run(request.in_path("run")));
  OrderedJson boxes = OrderedJson::array();
  for (const views::BlackBoxDump& box : views::read_black_boxes(run->location())) {
    boxes.push_back(answers::json_of(box, run->name()));
  }
  return json_reply({{"black_boxes", std::move(boxes)}});
}

Result<RuleParameters> parameters_of(const Json& body, const char* field) {
  RuleParameters parameters;
  const auto found = body.find(field);
  if (found == body.end()) return parameters;
  if (!found->is_object() || found->size() > kMostParameters) return bad_body(field, "an object of at most 100 texts");
  for (const auto& [name, value] : found->items()) {
    if (!value.is_string()) return bad_body(field, "texts");
    parameters.emplace(name, value.template get<std::string>());
  }
  return parameters;
}

// With a trial of its own, so that nobody who looks at the run waits.
Result<Reply> post_what_if(const Request& request, const Services& services) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json body, body_of(request));
  const auto rule = body.find("rule");
  if (rule == body.end() || !rule->is_string()) return bad_body("rule", "the name of a rule");
  TRAINWARDEN_ASSIGN_OR_RETURN(RuleParameters now, parameters_of(body, "now"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const RuleParameters changed, parameters_of(body, "parameters"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto run, services.shelf.run(request.in_path("run")));
  const LongWork turn;
  TRAINWARDEN_RETURN_IF_ERROR(turn.status());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, TrialAccess::open(run->location()));
  TRAINWARDEN_ASSIGN_OR_RETURN(const views::WhatIf what_if,
                               views::judge_what_if(*trial, {rule->get<std::string>(), std::move(now)}, changed));
  return json_reply(answers::json_of(what_if));
}

// Both leave once the request is there: what the training makes of it is reported by the run's events.
Result<Reply> post_stop(const Request& request, const Services& services) {
  StopRequestOptions options;
  TRAINWARDEN_ASSIGN_OR_RETURN(options.reason, reason_of(request));
  options.requested_by = kRequestedBy;
  options.wait = false;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto run, services.shelf.run(request.in_path("run")));
  options.run_id = run->identity();  // another one may lie there by now
  TRAINWARDEN_ASSIGN_OR_RETURN(const StopAnswer answer, watch::stop_run(run->location(), options));
  return json_reply({{"key", answer.key},
                     {"status_before", answer.status_before},
                     {"already", answer.already},
                     {"accepted", answer.accepted},
                     {"ended", answer.ended},
                     {"message", answer.story}});
}

Result<Reply> post_save(const Request& request, const Services& services) {
  SaveRequestOptions options;
  TRAINWARDEN_ASSIGN_OR_RETURN(options.reason, reason_of(request));
  options.requested_by = kRequestedBy;
  options.wait = false;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto run, services.shelf.run(request.in_path("run")));
  options.run_id = run->identity();  // another one may lie there by now
  TRAINWARDEN_ASSIGN_OR_RETURN(const SaveAnswer answer, watch::save_run(run->location(), options));
  return json_reply({{"key", answer.key}, {"message", answer.story}});
}

}  // namespace

std::vector<Route> rule_routes() {
  return {
      {Method::kGet, "/rules", get_rule_kinds},
      {Method::kGet, "/runs/{run}/diagnosis", get_diagnosis},
      {Method::kGet, "/runs/{run}/rules", get_rules},
      {Method::kPost, "/runs/{run}/rules/what-if", post_what_if},
      {Method::kGet, "/runs/{run}/events", get_events},
      {Method::kGet, "/runs/{run}/blackboxes", get_black_boxes},
      {Method::kPost, "/runs/{run}/stop", post_stop, true},
      {Method::kPost, "/runs/{run}/save", post_save, true},
  };
}

}  // namespace trainwarden::answers
