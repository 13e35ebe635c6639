#include "ui/views/profile/compare_profiles.h"

#include <cmath>
#include <limits>
#include <set>

namespace trainwarden::views {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// The mean of those that are known.
class Mean {
 public:
  void take(double value) {
    if (!std::isfinite(value)) return;
    sum_ += value;
    ++count_;
  }
  double value() const { return count_ == 0 ? kUnknown : sum_ / static_cast<double>(count_); }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

using Means = std::map<std::string, Mean>;

Means phase_shares(const ProfileReport& report) {
  Means shares;
  for (const ProfiledWorker& worker : report.workers) {
    for (const WorkerPhase& phase : worker.phases) shares[phase.phase].take(100 * phase.share);
  }
  return shares;
}

// Of whole machines and devices, by kind.
Means usage_means(const ProfileReport& report) {
  Means means;
  for (const UsageRow& row : report.usage) {
    if (row.part.empty()) means[row.kind].take(row.values.mean);
  }
  return means;
}

double value_in(const Means& means, const std::string& name) {
  const auto found = means.find(name);
  return found == means.end() ? kUnknown : found->second.value();
}

double median_ms(const ProfileReport& report) {
  return report.steps.duration_ms ? report.steps.duration_ms->p50 : kUnknown;
}

double mean_ms(const ProfileReport& report) {
  return report.steps.count > 0 && report.steps.wall_seconds > 0
             ? 1e3 * report.steps.wall_seconds / static_cast<double>(report.steps.count)
             : kUnknown;
}

class Rows {
 public:
  void add(std::string what, std::string unit, double here, double there) {
    if (!std::isfinite(here) && !std::isfinite(there)) return;
    rows_.push_back({std::move(what), std::move(unit), here, there});
  }
  void add_all(const Means& here, const Means& there, const char* prefix,
               const std::map<std::string, UsageRow>& units) {
    std::set<std::string> names;
    for (const auto& [name, mean] : here) names.insert(name);
    for (const auto& [name, mean] : there) names.insert(name);
    for (const std::string& name : names) {
      const auto unit = units.find(name);
      const bool is_known = unit != units.end();
      add(is_known ? unit->second.label : prefix + name, is_known ? unit->second.unit : "%", value_in(here, name),
          value_in(there, name));
    }
  }
  std::vector<ComparedNumber> take() { return std::move(rows_); }

 private:
  std::vector<ComparedNumber> rows_;
};

}  // namespace

ProfileComparison compare_profiles(const ProfileReport& here, const ProfileReport& there) {
  Rows rows;
  rows.add("step, median", "ms", median_ms(here), median_ms(there));
  rows.add("step, mean", "ms", mean_ms(here), mean_ms(there));
  rows.add("steps", "", static_cast<double>(here.steps.count), static_cast<double>(there.steps.count));
  rows.add_all(phase_shares(here), phase_shares(there), "phase ", {});
  std::map<std::string, UsageRow> units;
  for (const ProfileReport* const report : {&here, &there}) {
    for (const UsageRow& row : report->usage) units.emplace(row.kind, row);
  }
  rows.add_all(usage_means(here), usage_means(there), "", units);
  const double gain = mean_ms(there) / mean_ms(here);
  rows.add("throughput", "of the other", gain, std::isfinite(gain) ? 1 : kUnknown);
  return {there.run.name, rows.take()};
}

}  // namespace trainwarden::views
