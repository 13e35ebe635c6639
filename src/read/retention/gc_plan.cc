#include "read/retention/gc_plan.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "read/retention/run_removal.h"
#include "read/trial/run_listing.h"

namespace trainwarden::retention {
namespace {

using Change = PlannedRun::Change;

// "*" in the pattern stands for any text; all else for itself.
bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (name.substr(0, star) != pattern.substr(0, star)) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= name.size(); ++at) {
    if (matches(rest, name.substr(at))) return true;
  }
  return false;
}

class GcPlanner {
 public:
  GcPlanner(const storage::Location& runs, const KeepRules& rules, const NeededRuns& needed, const Clock& clock)
      : runs_(runs), rules_(rules), needed_(needed), clock_(clock) {}

  Result<GcPlan> plan() &&;

 private:
  Status find_runs();
  void find_unfinished();
  void protect();
  void remove_old();
  void remove_beyond_count();
  void thin_old();
  void remove_beyond_bytes();
  // As many of the oldest as `enough` wants; it is asked before each, and `reason` is why.
  void remove_oldest(const std::function<bool()>& enough, const std::string& reason);
  void remove(PlannedRun& run, const std::string& reason);
  void thin(PlannedRun& run);
  std::int64_t age_ns(const PlannedRun& run) const { return now_ - run.run.changed_unix_ns; }
  std::uint64_t bytes_left() const;

  const storage::Location& runs_;
  const KeepRules& rules_;
  const NeededRuns& needed_;
  const Clock& clock_;
  const std::int64_t now_ = clock_.unix_ns();
  GcPlan plan_;
};

Result<GcPlan> GcPlanner::plan() && {
  TRAINWARDEN_RETURN_IF_ERROR(find_runs());
  protect();
  remove_old();
  remove_beyond_count();
  thin_old();
  remove_beyond_bytes();
  find_unfinished();
  for (const PlannedRun& run : plan_.runs) plan_.freed_bytes += run.freed_bytes;
  return std::move(plan_);
}

Status GcPlanner::find_runs() {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto folders, trial::list_folders(runs_));
  for (const storage::Entry& entry : folders) {
    std::optional<StoredRun> facts = look_at_run(runs_, entry, clock_);
    if (!facts) continue;
    plan_.bytes += facts->bytes;
    plan_.runs.emplace_back().run = std::move(*facts);
  }
  std::stable_sort(plan_.runs.begin(), plan_.runs.end(), [](const PlannedRun& a, const PlannedRun& b) {
    return a.run.changed_unix_ns < b.run.changed_unix_ns;
  });
  return Status();
}

// What was begun goes on whatever the rules are: it is no run any more.
void GcPlanner::find_unfinished() {
  for (const std::string& name : unfinished_removals(runs_.storage()).value_or({})) {
    PlannedRun& run = plan_.runs.emplace_back();
    run.run.name = name;
    run.run.bytes = bytes_below(runs_.storage(), name);
    run.change = Change::kFinish;
    run.freed_bytes = run.run.bytes;
    run.reason = "its removal was interrupted";
    plan_.bytes += run.run.bytes;
  }
}

void GcPlanner::protect() {
  for (std::size_t i = 0; i < plan_.runs.size(); ++i) {
    StoredRun& run = plan_.runs[i].run;
    for (const std::string& pattern : rules_.keep) {
      if (run.stays.empty() && matches(pattern, run.name)) {
        run.stays = fmt::format("a rule keeps {}", printable(pattern));
      }
    }
    if (const auto found = needed_.find(run.name); found != needed_.end() && run.is_not_removed.empty()) {
      run.is_not_removed = found->second;
    }
    const std::size_t newer = plan_.runs.size() - 1 - i;
    if (newer < rules_.keep_last && run.is_not_removed.empty()) {
      run.is_not_removed = fmt::format("it is one of the newest {}", rules_.keep_last);
    }
  }
}

void GcPlanner::remove(PlannedRun& run, const std::string& reason) {
  const std::string& why_not = run.run.stays.empty() ? run.run.is_not_removed : run.run.stays;
  if (!why_not.empty()) {
    if (run.reason.empty()) run.reason = fmt::format("{}, but {}", reason, why_not);
    return;
  }
  run.change = Change::kRemove;
  run.freed_bytes = run.run.bytes;
  run.reason = reason;
}

void GcPlanner::remove_old() {
  if (!rules_.older_than_ns) return;
  for (PlannedRun& run : plan_.runs) {
    if (age_ns(run) <= *rules_.older_than_ns) continue;
    remove(run, fmt::format("it was last written {} ago", format_duration_ns(age_ns(run))));
  }
}

void GcPlanner::remove_oldest(const std::function<bool()>& enough, const std::string& reason) {
  for (PlannedRun& run : plan_.runs) {
    if (enough()) return;
    if (run.change != Change::kRemove) remove(run, reason);
  }
}

void GcPlanner::remove_beyond_count() {
  if (!rules_.max_runs) return;
  const auto left = [&] {
    return std::count_if(plan_.runs.begin(), plan_.runs.end(),
                         [](const PlannedRun& run) { return run.change != Change::kRemove; });
  };
  remove_oldest([&] { return static_cast<std::uint64_t>(left()) <= *rules_.max_runs; },
                fmt::format("there are more than {} runs", *rules_.max_runs));
}

void GcPlanner::thin_old() {
  if (!rules_.thin_older_than_ns) return;
  for (PlannedRun& run : plan_.runs) {
    if (run.change == Change::kNone && age_ns(run) > *rules_.thin_older_than_ns) thin(run);
  }
}

void GcPlanner::thin(PlannedRun& run) {
  if (!run.run.stays.empty()) {
    if (run.reason.empty()) run.reason = fmt::format("old enough to be thinned out, but {}", run.run.stays);
    return;
  }
  const storage::Location place = runs_.beneath(run.run.name);
  auto thinning = plan_thinning(place.storage(), run.run.info, rules_.every);
  if (!thinning.ok()) {
    run.reason = fmt::format("old enough to be thinned out, but it cannot be read: {}", thinning.status().message());
    return;
  }
  if (thinning->tensors == 0) return;
  run.change = Change::kThin;
  run.freed_bytes = thinning->bytes;
  run.reason = fmt::format("it was last written {} ago", format_duration_ns(age_ns(run)));
  run.thinning = std::move(*thinning);
}

std::uint64_t GcPlanner::bytes_left() const {
  std::uint64_t bytes = 0;
  for (const PlannedRun& run : plan_.runs) bytes += run.run.bytes - std::min(run.run.bytes, run.freed_bytes);
  return bytes;
}

void GcPlanner::remove_beyond_bytes() {
  if (!rules_.max_bytes) return;
  remove_oldest([&] { return bytes_left() <= *rules_.max_bytes; },
                fmt::format("all runs together have more than {}", format_bytes(*rules_.max_bytes)));
  const std::uint64_t left = bytes_left();
  plan_.bytes_over = left - std::min(left, *rules_.max_bytes);
}

}  // namespace

std::string_view name(PlannedRun::Change change) {
  switch (change) {
    case Change::kRemove: return "remove";
    case Change::kThin: return "thin";
    case Change::kFinish: return "finish";
    case Change::kNone: break;
  }
  return "none";
}

bool GcPlan::changes_anything() const {
  return std::any_of(runs.begin(), runs.end(), [](const PlannedRun& run) { return run.change != Change::kNone; });
}

Result<GcPlan> plan_gc(const storage::Location& runs, const KeepRules& rules, const NeededRuns& needed,
                       const Clock& clock) {
  return GcPlanner(runs, rules, needed, clock).plan();
}

}  // namespace trainwarden::retention
