#include "ui/answers/profile_json.h"

#include <cmath>

namespace trainwarden::answers {
namespace {

using format::OrderedJson;

constexpr double kMsInNs = 1e6;

OrderedJson known(double value) {
  return std::isfinite(value) ? OrderedJson(value) : OrderedJson();
}

OrderedJson known(const std::optional<double>& value) {
  return value ? known(*value) : OrderedJson();
}

OrderedJson known(const std::string& text) {
  return text.empty() ? OrderedJson() : OrderedJson(text);
}

double ms(std::int64_t unix_ns) {
  return static_cast<double>(unix_ns) / kMsInNs;
}

// Lines are drawn with a few hundred pixels: four digits are enough, and half the bytes.
OrderedJson rounded(double value) {
  if (!std::isfinite(value) || value == 0) return known(value);
  const double size = std::pow(10.0, 3 - std::floor(std::log10(std::fabs(value))));
  return std::isfinite(size) && size > 0 ? OrderedJson(std::round(value * size) / size) : OrderedJson(value);
}

OrderedJson line_json(const std::vector<double>& values) {
  OrderedJson list = OrderedJson::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

template <class Items, class Make>
OrderedJson each_json(const Items& items, const Make& make) {
  OrderedJson list = OrderedJson::array();
  for (const auto& item : items) list.push_back(make(item));
  return list;
}

OrderedJson run_json(const views::ProfiledRun& run) {
  return {{"name", run.name},
          {"state", name(run.state)},
          {"host", run.host},
          {"command", run.command},
          {"created_unix_ms", ms(run.created_unix_ns)},
          {"from_unix_ms", ms(run.from_unix_ns)},
          {"to_unix_ms", ms(run.to_unix_ns)}};
}

OrderedJson gain_json(const std::optional<views::Gain>& gain) {
  if (!gain) return nullptr;
  return {{"expected", known(gain->expected)}, {"min", known(gain->min)}, {"max", known(gain->max)}};
}

const char* word(views::ProfileVerdict::Kind kind) {
  switch (kind) {
    case views::ProfileVerdict::Kind::kFinding: return "finding";
    case views::ProfileVerdict::Kind::kNothingFound: return "nothing_found";
    case views::ProfileVerdict::Kind::kNotEnoughData: break;
  }
  return "not_enough_data";
}

OrderedJson verdict_json(const views::ProfileVerdict& verdict) {
  return {{"kind", word(verdict.kind)},
          {"rule", known(verdict.rule)},
          {"text", verdict.text},
          {"advice", known(verdict.advice)},
          {"step_share", known(verdict.step_share)},
          {"gain", gain_json(verdict.gain)}};
}

OrderedJson distribution_json(const views::ValueSpread& values) {
  return {{"min", known(values.min)}, {"p50", known(values.p50)}, {"p95", known(values.p95)},
          {"p99", known(values.p99)}, {"max", known(values.max)}, {"mean", known(values.mean)}};
}

OrderedJson outlier_json(const views::OutlyingStep& outlier) {
  return {{"step", outlier.step},
          {"worker", outlier.worker},
          {"unix_ms", ms(outlier.unix_ns)},
          {"ms", known(outlier.ms)},
          {"median_ms", known(outlier.median_ms)},
          {"phase", known(outlier.phase)},
          {"phase_ms", known(outlier.phase_ms)},
          {"cause", known(outlier.cause)}};
}

OrderedJson histogram_json(const std::optional<views::ProfiledHistogram>& histogram) {
  if (!histogram) return nullptr;
  return {{"edges_ms", line_json(histogram->edges_ms)}, {"counts", histogram->counts}};
}

OrderedJson steps_json(const views::ProfiledSteps& steps) {
  return {
      {"count", steps.count},
      {"divided", steps.divided},
      {"wall_seconds", known(steps.wall_seconds)},
      {"start_seconds", known(steps.start_seconds)},
      {"modes", each_json(steps.modes,
                          [](const views::ModeTime& mode) -> OrderedJson {
                            return {{"mode", name(mode.mode)}, {"count", mode.count}, {"seconds", known(mode.seconds)}};
                          })},
      {"duration_ms", steps.duration_ms ? distribution_json(*steps.duration_ms) : OrderedJson()},
      {"histogram", histogram_json(steps.histogram)},
      {"outliers", each_json(steps.outliers, outlier_json)},
      {"outlier_count", steps.outlier_count}};
}

OrderedJson worker_json(const views::ProfiledWorker& worker) {
  return {{"worker", worker.worker},
          {"host", worker.host},
          {"steps", known(worker.steps)},
          {"wall_seconds", known(worker.wall_seconds)},
          {"median_ms", known(worker.median_ms)},
          {"skew", known(worker.skew)},
          {"phases", each_json(worker.phases, [](const views::WorkerPhase& phase) -> OrderedJson {
             return {{"phase", phase.phase},
                     {"share", known(phase.share)},
                     {"ms_per_step", known(phase.ms_per_step)},
                     {"known_of_all_steps", phase.known_of_all_steps}};
           })}};
}

OrderedJson usage_row_json(const views::UsageRow& row) {
  OrderedJson json = {
      {"kind", row.kind}, {"label", row.label}, {"unit", row.unit}, {"instance", row.instance}, {"part", row.part}};
  json["mean"] = known(row.values.mean);
  json["min"] = known(row.values.min);
  json["p50"] = known(row.values.p50);
  json["p95"] = known(row.values.p95);
  json["p99"] = known(row.values.p99);
  json["max"] = known(row.values.max);
  return json;
}

OrderedJson operators_json(const std::optional<views::ProfiledOperators>& all) {
  if (!all) return nullptr;
  return {{"first_step", all->first_step},
          {"last_step", all->last_step},
          {"steps", all->steps},
          {"calls", all->calls},
          {"lost_calls", all->lost_calls},
          {"damaged_steps", all->damaged_steps},
          {"left_out_steps", all->left_out_steps},
          {"wall_ms", known(all->wall_ms)},
          {"rows", each_json(all->rows, [](const views::ProfiledOperator& row) -> OrderedJson {
             return {{"name", row.name},
                     {"kind", name(row.kind)},
                     {"calls", row.calls},
                     {"total_ms", known(row.total_ms)},
                     {"self_ms", known(row.self_ms)},
                     {"share", known(row.share)},
                     {"longest_ms", known(row.longest_ms)}};
           })}};
}

OrderedJson memory_json(const views::ProfiledMemory& memory) {
  return {{"worker", memory.worker},
          {"device", memory.device},
          {"peak_bytes", known(memory.peak_bytes)},
          {"peak_step", memory.peak_step < 0 ? OrderedJson() : OrderedJson(memory.peak_step)},
          {"at_end_bytes", known(memory.at_end_bytes)},
          {"points", each_json(memory.points, [](const views::MemoryPoint& point) -> OrderedJson {
             return OrderedJson::array({ms(point.unix_ns), known(point.bytes)});
           })}};
}

const char* word(views::JudgedRule::Status status) {
  switch (status) {
    case views::JudgedRule::Status::kFired: return "fired";
    case views::JudgedRule::Status::kOk: return "ok";
    case views::JudgedRule::Status::kNotApplicable: return "not_applicable";
    case views::JudgedRule::Status::kInsufficientData: return "insufficient_data";
    case views::JudgedRule::Status::kError: break;
  }
  return "error";
}

OrderedJson profile_rule_json(const views::JudgedRule& rule) {
  return {{"rule", rule.rule},
          {"status", word(rule.status)},
          {"message", rule.message},
          {"advice", known(rule.advice)},
          {"step_share", known(rule.step_share)},
          {"gain", gain_json(rule.gain)},
          {"explained_by", known(rule.explained_by)},
          {"evidence", each_json(rule.evidence,
                                 [](const views::FindingNumber& number) -> OrderedJson {
                                   return {{"quantity", number.quantity},
                                           {"value", known(number.value)},
                                           {"threshold", known(number.threshold)},
                                           {"worker", known(number.worker)},
                                           {"metric", known(number.metric)},
                                           {"step", number.step < 0 ? OrderedJson() : OrderedJson(number.step)}};
                                 })},
          {"judgements", rule.judgements},
          {"firings", rule.firings},
          {"episodes", rule.episodes},
          {"parameters", rule.parameters},
          {"summary", rule.summary}};
}

OrderedJson cost_json(const views::ProfileCost& cost) {
  return {{"capture_share", known(cost.capture_share)},
          {"capture_budget", known(cost.capture_budget)},
          {"sampler_core_share", known(cost.sampler_core_share)},
          {"window_steps", cost.window_steps},
          {"window_slowdown", known(cost.window_slowdown)}};
}

OrderedJson comparison_json(const std::optional<views::ProfileComparison>& comparison) {
  if (!comparison) return nullptr;
  return {{"run", comparison->run},
          {"rows", each_json(comparison->rows, [](const views::ComparedNumber& row) -> OrderedJson {
             return {{"what", row.what}, {"unit", row.unit}, {"here", known(row.here)}, {"there", known(row.there)}};
           })}};
}

}  // namespace

OrderedJson json_of(const views::ProfileTimeline& timeline) {
  return {{"from_unix_ms", ms(timeline.from_unix_ns)},
          {"to_unix_ms", ms(timeline.to_unix_ns)},
          {"buckets", timeline.buckets},
          {"system", each_json(timeline.system,
                               [](const views::SystemLine& line) -> OrderedJson {
                                 return {{"kind", line.kind}, {"label", line.label},
                                         {"unit", line.unit}, {"instance", line.instance},
                                         {"part", line.part}, {"values", line_json(line.values)}};
                               })},
          {"phases",
           each_json(timeline.phases,
                     [](const views::PhaseLine& line) -> OrderedJson {
                       return {{"worker", line.worker}, {"phase", line.phase}, {"values", line_json(line.values)}};
                     })},
          {"left_out_lines", timeline.left_out_lines}};
}

OrderedJson json_of(const views::ProfileReport& report) {
  return {{"run", run_json(report.run)},
          {"verdict", verdict_json(report.verdict)},
          {"steps", steps_json(report.steps)},
          {"workers", each_json(report.workers, worker_json)},
          {"timeline", json_of(report.timeline)},
          {"usage", each_json(report.usage, usage_row_json)},
          {"operators", operators_json(report.operators)},
          {"stacks", operators_json(report.stacks)},
          {"memory", each_json(report.memory, memory_json)},
          {"rules", each_json(report.rules, profile_rule_json)},
          {"cost", cost_json(report.cost)},
          {"comparison", comparison_json(report.comparison)}};
}

}  // namespace trainwarden::answers
