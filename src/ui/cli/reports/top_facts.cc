#include "ui/cli/reports/top_facts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "judge/rules/rule_history.h"
#include "judge/rules/step_place.h"
#include "react/actions/worker_processes.h"
#include "react/events/description.h"
#include "read/trial/trial_access.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/event_view.h"
#include "ui/cli/reports/now_view.h"
#include "ui/cli/reports/run_summary.h"
#include "ui/views/capture_bill.h"
#include "ui/views/run_length.h"

namespace trainwarden::cli {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kRateWindowNs = 10 * kSecondNs;
constexpr std::int64_t kSlowLookNs = kSecondNs;  // between two looks at what takes long
constexpr std::size_t kMostPoints = 4096;        // of a loss
constexpr std::size_t kMostTensors = 500;        // of a collection
constexpr std::size_t kMostEvents = 50;

// The mode whose steps are counted.
Mode counted_mode(const Trial& trial) {
  const std::vector<Mode> modes = trial.modes();
  return std::find(modes.begin(), modes.end(), Mode::kTrain) != modes.end() ? Mode::kTrain : Mode::kGlobal;
}

// Every second point is left out when there are too many; the newest stays.
void thin_out(std::vector<ChartPoint>& points) {
  if (points.size() <= kMostPoints) return;
  std::size_t kept = 0;
  for (std::size_t i = (points.size() - 1) % 2; i < points.size(); i += 2) {
    // Of two neighbours the one that is no number is kept: it must not be overlooked.
    const bool odd_before = i > 0 && !std::isfinite(points[i - 1].y);
    points[kept++] = odd_before ? points[i - 1] : points[i];
  }
  points.resize(kept);
}

void add_point(LossFacts& loss, std::int64_t step, double value) {
  loss.points.push_back({static_cast<double>(step), value});
  loss.last = value;
  loss.last_step = step;
  if (std::isfinite(value)) loss.lowest = std::min(value, loss.lowest.value_or(value));
  thin_out(loss.points);
}

void add_statistics(HealthFacts& health, const std::string& name, std::int64_t step, const Statistics& s) {
  ++health.tensors;
  health.step = std::max(health.step, step);
  health.nan_count += s.nan_count;
  health.inf_count += s.inf_count();
  health.zero_count += s.zero_count;
  health.count += s.count;
  if (health.largest_name.empty() || s.abs_max > health.largest) {
    health.largest = s.abs_max;
    health.largest_name = name;
  }
}

bool is_loss(const Trial& trial, const std::string& name) {
  const auto info = trial.tensor_info(name);
  return info.ok() &&
         std::find(info->collections.begin(), info->collections.end(), "losses") != info->collections.end();
}

RuleLine line_of(const rules::RuleHistory& rule) {
  RuleLine line{rule.status.rule_id, rule.status.status, rule.status.details};
  if (!rule.verdicts.empty()) {
    const rules::VerdictRecord& newest = rule.verdicts.back();
    line.words = fmt::format("{}: {}", rules::place_text(newest.place), newest.verdict.message);
  }
  return line;
}

}  // namespace

std::optional<std::int64_t> TopFacts::eta_seconds() const {
  if (!running || !total || steps_per_second <= 0 || done_steps > *total) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(*total - done_steps) / steps_per_second));
}

Result<std::unique_ptr<TopGatherer>> TopGatherer::open(const std::filesystem::path& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto trial, Trial::open(run));
  TRAINWARDEN_ASSIGN_OR_RETURN(auto log, views::EventLog::open(run));
  std::unique_ptr<TopGatherer> gatherer(new TopGatherer(std::move(trial), std::move(log)));
  TRAINWARDEN_RETURN_IF_ERROR(gatherer->refresh());
  return gatherer;
}

TopGatherer::TopGatherer(std::unique_ptr<Trial> trial, std::unique_ptr<views::EventLog> log)
    : trial_(std::move(trial)), log_(std::move(log)) {
  facts_.run = run_name(trial_->path());
  if (const auto said = views::said_steps(trial_->labels())) facts_.total = said->second;
}

Status TopGatherer::refresh() {
  TRAINWARDEN_RETURN_IF_ERROR(trial_->refresh());
  gather_progress();
  gather_losses();
  TRAINWARDEN_RETURN_IF_ERROR(gather_events());
  const std::int64_t now_ns = system_clock().steady_ns();
  if (slow_look_ns_ != 0 && now_ns - slow_look_ns_ < kSlowLookNs) return {};
  slow_look_ns_ = now_ns;
  gather_health();
  gather_process();
  const views::ProfileNow now = views::profile_now(*trial_);
  facts_.machine = machine_text(now);
  facts_.phases = phases_text(now);
  return gather_rules();
}

void TopGatherer::gather_progress() {
  const std::int64_t now_ns = system_clock().steady_ns();
  const std::int64_t step = trial_->last_complete_step();
  facts_.now_unix_ns = system_clock().unix_ns();
  facts_.created_unix_ns = trial_->created_unix_ns();
  facts_.last_unix_ns = trial_->last_unix_ns();
  facts_.running = trial_->state() == RunState::kRunning;
  facts_.place = step < 0 ? "no step yet" : rules::place_text(rules::place_of(*trial_, step));
  const std::vector<std::int64_t> steps = trial_->steps(counted_mode(*trial_));
  facts_.done_steps = steps.empty() ? 0 : steps.back() + 1;
  recent_.emplace_back(facts_.done_steps, now_ns);
  while (recent_.size() > 2 && now_ns - recent_.front().second > kRateWindowNs) recent_.pop_front();
  const std::int64_t looked_ns = now_ns - recent_.front().second;
  if (looked_ns >= kSecondNs && facts_.running) {
    facts_.steps_per_second =
        static_cast<double>(facts_.done_steps - recent_.front().first) * 1e9 / static_cast<double>(looked_ns);
  } else if (facts_.last_unix_ns > facts_.created_unix_ns && facts_.created_unix_ns > 0) {
    // Seen for too short a time: the mean of all of it.
    facts_.steps_per_second = static_cast<double>(facts_.done_steps) * 1e9 /
                              static_cast<double>(facts_.last_unix_ns - facts_.created_unix_ns);
  }
}

void TopGatherer::gather_losses() {
  for (const char* collection : {"losses", "scalars"}) {
    const auto names = trial_->tensor_names({.include = {}, .collection = collection, .mode = {}, .step = {}});
    if (!names.ok()) continue;  // the run has no such collection
    for (const std::string& name : *names) gather_loss(name);
  }
}

void TopGatherer::gather_loss(const std::string& name) {
  // Modes are series of their own: a loss in evaluation is another than in training.
  for (const Mode mode : trial_->modes()) {
    const std::string key = mode == Mode::kGlobal ? name : fmt::format("{} {}", trainwarden::name(mode), name);
    const std::vector<std::int64_t> steps = trial_->steps_of(name, mode, Kept::kScalar | Kept::kValue);
    const auto seen = losses_seen_.find(key);
    const auto next =
        seen == losses_seen_.end() ? steps.begin() : std::upper_bound(steps.begin(), steps.end(), seen->second);
    if (next == steps.end()) continue;
    auto loss = std::find_if(facts_.losses.begin(), facts_.losses.end(),
                             [&](const LossFacts& known) { return known.name == key; });
    if (loss == facts_.losses.end()) loss = facts_.losses.insert(loss, LossFacts{.name = key});
    for (auto step = next; step != steps.end(); ++step) {
      const auto value = trial_->scalar(name, *step, mode);
      const std::int64_t global = trial_->global_step(mode, *step).value_or(*step);
      if (value.ok()) add_point(*loss, global, *value);
    }
    losses_seen_[key] = steps.back();
  }
}

void TopGatherer::gather_health() {
  if (health_step_ == trial_->last_complete_step()) return;
  health_step_ = trial_->last_complete_step();
  facts_.health.clear();
  for (const char* collection : {"weights", "biases", "gradients", "outputs", "optimizer_state"}) {
    HealthFacts health = health_of(collection);
    if (health.tensors > 0) facts_.health.push_back(std::move(health));
  }
}

HealthFacts TopGatherer::health_of(const std::string& collection) const {
  HealthFacts health{.collection = collection};
  const auto names = trial_->tensor_names({.include = {}, .collection = collection, .mode = {}, .step = {}});
  if (!names.ok()) return health;
  for (const std::string& name : *names) {
    if (collection == "outputs" && is_loss(*trial_, name)) continue;  // it is shown above
    if (health.tensors >= kMostTensors) {
      health.left_out = names->size() - health.tensors;
      break;
    }
    const std::vector<std::int64_t> steps =
        trial_->steps_of(name, Mode::kGlobal, Kept::kStatistics | Kept::kScalar | Kept::kValue);
    if (steps.empty()) continue;
    const auto statistics = trial_->statistics(name, steps.back());
    if (statistics.ok()) add_statistics(health, name, steps.back(), *statistics);
  }
  return health;
}

Status TopGatherer::gather_rules() {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto rules, rules::read_rule_histories(TrialAccess::location(*trial_)));
  facts_.rules.clear();
  for (const rules::RuleHistory& rule : rules) facts_.rules.push_back(line_of(rule));
  const auto view = events::view_run(*trial_, log_->contents());
  facts_.state = view.ok() ? status_text(trial_->state(), *view) : std::string(name(trial_->state()));
  const std::vector<views::WorkerBill> bills = views::read_bills(*trial_);
  facts_.capture_share = -1;
  for (const views::WorkerBill& bill : bills) facts_.capture_share = std::max(facts_.capture_share, bill.share());
  return {};
}

Status TopGatherer::gather_events() {
  TRAINWARDEN_RETURN_IF_ERROR(log_->refresh().status());
  const auto& events = log_->contents().events;
  if (events.size() == events_told_) return {};
  events_told_ = events.size();
  facts_.events.clear();
  for (std::size_t i = events.size() > kMostEvents ? events.size() - kMostEvents : 0; i < events.size(); ++i) {
    facts_.events.push_back(event_line(events[i]));
  }
  return {};
}

void TopGatherer::gather_process() {
  facts_.process.reset();
  if (!facts_.running || is_foreign(*trial_)) return;
  facts_.process_note = "the training runs on another machine, or as another user";
  for (const actions::LivingWorker& worker : actions::living_workers(TrialAccess::location(*trial_).storage())) {
    if (!worker.process) continue;
    facts_.process = meter_.look(*worker.process, system_clock().steady_ns());
    if (facts_.process) return;
  }
}

}  // namespace trainwarden::cli
