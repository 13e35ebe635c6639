#include "judge/rules/rule_standing.h"

#include <algorithm>
#include <utility>

namespace trainwarden::rules {
namespace {

bool is_judging(RuleStatus status) {
  return status == RuleStatus::kInProgress || status == RuleStatus::kStopping;
}

bool ends_by_itself(RuleStatus status) {
  return status == RuleStatus::kNoIssuesFound || status == RuleStatus::kNotApplicable || status == RuleStatus::kError;
}

bool another_judges(const RuleStanding& standing, const std::string& journal) {
  return std::any_of(standing.engines.begin(), standing.engines.end(), [&](const auto& engine) {
    return engine.first != journal && engine.second.status == RuleStatus::kInProgress;
  });
}

// The engine that came to its end first, of those that did so by themselves since the rule was taken up.
std::optional<std::pair<std::string, RuleStatusRecord>> first_end(const RuleStanding& standing) {
  std::optional<std::pair<std::string, RuleStatusRecord>> first;
  for (const auto& [journal, record] : standing.engines) {
    if (!ends_by_itself(record.status) || record.unix_ns < standing.taken_up_unix_ns) continue;
    if (!first || record.unix_ns < first->second.unix_ns) first.emplace(journal, record);
  }
  return first;
}

// May the rule go there by a record of the engine that stood at `before`?
bool accepts(const RuleStanding& standing, RuleStatus to, std::optional<RuleStatus> before) {
  const RuleStatus from = standing.status.status;
  switch (to) {
    case RuleStatus::kInProgress: return from != RuleStatus::kInProgress && from != RuleStatus::kIssuesFound;
    case RuleStatus::kIssuesFound: return from != RuleStatus::kIssuesFound;
    case RuleStatus::kStopping: return from == RuleStatus::kInProgress;
    case RuleStatus::kError:
      // One that was judged on after it had fired.
      if (from == RuleStatus::kIssuesFound) return before == RuleStatus::kIssuesFound;
      [[fallthrough]];
    case RuleStatus::kNoIssuesFound:
    case RuleStatus::kNotApplicable:
    case RuleStatus::kStopped:
      // Who ends without having begun has begun, and that was lost.
      return is_judging(from) || (from != RuleStatus::kIssuesFound && !before);
  }
  return false;
}

}  // namespace

RuleStanding* RuleStandings::find(const RuleStatusRecord& record) {
  const auto found = places_.find({record.rule_id, record.parameters});
  return found == places_.end() ? nullptr : &standings_[found->second];
}

std::optional<RuleChange> RuleStandings::settle(RuleStanding& standing, const std::string& journal,
                                                RuleStatusRecord record) {
  const RuleChange change{static_cast<std::size_t>(&standing - standings_.data()), standing.status.status,
                          record.status};
  standing.journal = journal;
  standing.transitions.push_back(record);
  standing.status = std::move(record);
  return change;
}

std::optional<RuleChange> RuleStandings::take(const std::string& journal, const RuleStatusRecord& record) {
  RuleStanding* const known = find(record);
  if (known == nullptr) {
    places_.try_emplace({record.rule_id, record.parameters}, standings_.size());
    standings_.push_back({journal, journal, record, {record}, record.unix_ns, {{journal, record}}});
    return RuleChange{standings_.size() - 1, std::nullopt, record.status};
  }
  RuleStanding& standing = *known;
  const auto engine = standing.engines.find(journal);
  const std::optional<RuleStatus> before =
      engine == standing.engines.end() ? std::nullopt : std::optional(engine->second.status);
  standing.engines[journal] = record;
  const bool ends = record.status != RuleStatus::kInProgress && record.status != RuleStatus::kIssuesFound;
  if (ends && is_judging(standing.status.status) && another_judges(standing, journal)) return std::nullopt;
  if (!accepts(standing, record.status, before)) return std::nullopt;
  if (record.status == RuleStatus::kInProgress) standing.taken_up_unix_ns = record.unix_ns;
  const bool settles = ends && record.status != RuleStatus::kStopping && is_judging(standing.status.status);
  auto first = settles ? first_end(standing) : std::nullopt;
  if (!first) return settle(standing, journal, record);
  first->second.unix_ns = record.unix_ns;  // only now it holds for the rule
  return settle(standing, first->first, std::move(first->second));
}

bool RuleStandings::judges(const std::string& journal) const {
  return std::any_of(standings_.begin(), standings_.end(), [&](const RuleStanding& standing) {
    const auto engine = standing.engines.find(journal);
    return engine != standing.engines.end() && is_judging(engine->second.status);
  });
}

std::vector<RuleChange> RuleStandings::engine_gone(const std::string& journal, std::int64_t unix_ns) {
  std::vector<RuleChange> changes;
  for (std::size_t i = 0; i < standings_.size(); ++i) {
    const auto engine = standings_[i].engines.find(journal);
    if (engine == standings_[i].engines.end() || !is_judging(engine->second.status)) continue;
    RuleStatusRecord record = standings_[i].status;
    record.status = RuleStatus::kStopped;
    record.details = kEngineGone;
    record.unix_ns = unix_ns;
    if (const auto change = take(journal, record)) changes.push_back(*change);
  }
  return changes;
}

void RuleStandings::restore(RuleStanding standing) {
  places_.try_emplace({standing.status.rule_id, standing.status.parameters}, standings_.size());
  standings_.push_back(std::move(standing));
}

bool RuleStandings::remember(const std::string& journal, const RuleStatusRecord& record) {
  RuleStanding* const standing = find(record);
  if (standing != nullptr) standing->engines[journal] = record;
  return standing != nullptr;
}

std::string RuleStandings::judging_journal(const RuleStatusRecord& record) const {
  const RuleStanding* const standing = const_cast<RuleStandings*>(this)->find(record);
  if (standing == nullptr) return {};
  for (const auto& [journal, said] : standing->engines) {
    if (is_judging(said.status)) return journal;
  }
  return {};
}

}  // namespace trainwarden::rules
