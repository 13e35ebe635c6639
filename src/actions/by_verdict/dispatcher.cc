#include "actions/by_verdict/dispatcher.h"

#include <exception>

#include <fmt/format.h>

#include "base/log.h"
#include "format/json.h"

namespace trainwarden::actions::by_verdict {
namespace {

Status run_guarded(Action& action, const ActionContext& context) {
  try {
    return action.run(context);
  } catch (const std::exception& error) {
    return Status(Code::kInternal, fmt::format("the action threw: {}", error.what()));
  } catch (...) {
    return Status(Code::kInternal, "the action threw something that is no std::exception");
  }
}

}  // namespace

Dispatcher::Dispatcher(std::string requested_by, ActionSink sink, const Clock& clock)
    : requested_by_(std::move(requested_by)), sink_(std::move(sink)), clock_(clock) {}

void Dispatcher::add(std::unique_ptr<Action> action, std::string rule_id) {
  entries_.push_back({std::move(action), std::move(rule_id)});
}

std::vector<ActionOutcome> Dispatcher::dispatch(const FiredVerdict& fired, std::stop_token stop) {
  std::vector<ActionOutcome> outcomes;
  if (fired.verdict.outcome != Outcome::kFired) return outcomes;
  const std::string key = idempotency_key(fired);
  for (const Entry& entry : entries_) {
    const bool meant = entry.rule_id.empty() || entry.rule_id == fired.rule_id;
    if (!meant || done_.contains({entry.action.get(), key})) continue;
    outcomes.push_back(run(*entry.action, fired, key, stop));
    if (outcomes.back().status.ok()) done_.emplace(entry.action.get(), key);
  }
  return outcomes;
}

ActionOutcome Dispatcher::run(Action& action, const FiredVerdict& fired, const std::string& key, std::stop_token stop) {
  tell(fired.global_step, encode_action_start(action.name(), key, fired));
  ActionOutcome outcome{std::string(action.name()), key, {}, clock_.steady_ns()};
  outcome.status = run_guarded(action, {fired, key, requested_by_, std::move(stop)});
  outcome.duration_ns = clock_.steady_ns() - outcome.duration_ns;
  tell(fired.global_step, encode_action_outcome(outcome, fired));
  return outcome;
}

void Dispatcher::tell(std::int64_t global_step, const std::string& json) {
  if (!sink_) return;
  const Status told = sink_(global_step, json);
  if (!told.ok()) log(LogLevel::kWarning, "what an action did could not be written down: {}", told.to_string());
}

std::string encode_action_start(std::string_view action, std::string_view key, const FiredVerdict& fired) {
  return format::dump_json({{"type", "action_start"},
                            {"action", action},
                            {"key", key},
                            {"rule_id", fired.rule_id},
                            {"step", fired.global_step}});
}

std::string encode_action_outcome(const ActionOutcome& outcome, const FiredVerdict& fired) {
  return format::dump_json({{"type", "action_outcome"},
                            {"action", outcome.action},
                            {"key", outcome.key},
                            {"rule_id", fired.rule_id},
                            {"step", fired.global_step},
                            {"code", name(outcome.status.code())},
                            {"message", outcome.status.message()},
                            {"duration_ns", outcome.duration_ns}});
}

}  // namespace trainwarden::actions::by_verdict
