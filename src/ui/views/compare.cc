#include "ui/views/compare.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "judge/rules/trial_window.h"
#include "read/trial/trial_access.h"
#include "ui/views/tensor_difference.h"

namespace trainwarden::views {
namespace {

using Fields = std::map<std::pair<std::string, std::string>, std::string>;  // by group and name

Fields fields_of(const Trial& trial) {
  const journal::RunInfo& info = TrialAccess::run_info(trial);
  const std::vector<std::int64_t> steps = trial.steps();
  Fields fields = {{{"run", "command"}, fmt::format("{}", fmt::join(info.command, " "))},
                   {{"run", "code version"}, info.code_version},
                   {{"run", "framework"}, info.framework},
                   {{"run", "host"}, info.host},
                   {{"run", "recorder"}, std::string(trial.recorder())},
                   {{"run", "state"}, std::string(name(trial.state()))},
                   {{"run", "workers"}, std::to_string(trial.world_size())},
                   {{"run", "steps"}, std::to_string(steps.size())},
                   {{"run", "last step"}, steps.empty() ? "" : std::to_string(steps.back())}};
  for (const auto& [key, value] : trial.labels()) fields[{"label", key}] = value;
  for (const std::string& collection : trial.collections()) {
    const auto names = trial.tensor_names({.include = {}, .collection = collection});
    if (names.ok()) fields[{"capture", collection}] = fmt::format("{} tensors", names->size());
  }
  return fields;
}

// In the order "run", "label", "capture".
std::vector<ComparedField> side_by_side(const Trial& a, const Trial& b) {
  const Fields left = fields_of(a);
  const Fields right = fields_of(b);
  std::vector<ComparedField> fields;
  for (const char* const group : {"run", "label", "capture"}) {
    std::set<std::string> names;
    for (const Fields* const side : {&left, &right}) {
      for (const auto& [key, value] : *side) {
        if (key.first == group) names.insert(key.second);
      }
    }
    const auto text = [&](const Fields& side, const std::string& name) {
      const auto found = side.find({group, name});
      return found == side.end() ? std::string() : found->second;
    };
    for (const std::string& name : names) fields.push_back({group, name, text(left, name), text(right, name)});
  }
  return fields;
}

void compare_names(const Trial& a, const Trial& b, Comparison& comparison) {
  const auto names_a = a.tensor_names();
  const auto names_b = b.tensor_names();
  if (!names_a.ok() || !names_b.ok()) return;  // a query without a pattern does not fail
  std::set_difference(names_a->begin(), names_a->end(), names_b->begin(), names_b->end(),
                      std::back_inserter(comparison.only_a));
  std::set_difference(names_b->begin(), names_b->end(), names_a->begin(), names_a->end(),
                      std::back_inserter(comparison.only_b));
  comparison.common_tensors = names_a->size() - comparison.only_a.size();
}

// The order in which a run first saved its tensors is that in which the training made them: inputs, layer by layer,
// losses, gradients.
std::map<std::string, std::size_t, std::less<>> order_of(Trial& trial) {
  std::map<std::string, std::size_t, std::less<>> order;
  for (trial::WorkerJournal* const worker : TrialAccess::journals(trial)) {
    if (!worker->readable()) continue;
    for (const journal::JournalTensor& tensor : worker->reader().tensors()) order.emplace(tensor.name, order.size());
  }
  return order;
}

class Comparer {
 public:
  Comparer(Trial& a, Trial& b, double tolerance, const CompareLimits& limits, Comparison& comparison)
      : a_(a), b_(b), tolerance_(tolerance), limits_(limits), comparison_(comparison), order_(order_of(a)) {}

  // False once they have parted.
  bool compare(std::int64_t step) {
    const rules::TrialWindow left(a_, step, &memory_a_);
    const rules::TrialWindow right(b_, step, &memory_b_);
    const TensorSelection all{{}, {}, true};
    const auto spots_a = left.select(all);
    const auto spots_b = right.select(all);
    ++comparison_.compared_steps;
    comparison_.last_step = step;
    if (!spots_a.ok() || !spots_b.ok()) {
      ++comparison_.damaged;
      return true;
    }
    merge(left, *spots_a, right, *spots_b);
    if (found_.empty()) return true;
    comparison_.parted_step = step;
    comparison_.mode = left.mode();
    comparison_.mode_step = left.mode_step();
    report_found();
    return false;
  }

 private:
  // Both are sorted by name, then by worker.
  void merge(const rules::TrialWindow& left, std::span<const TensorSpot> spots_a, const rules::TrialWindow& right,
             std::span<const TensorSpot> spots_b) {
    auto b = spots_b.begin();
    for (const TensorSpot& a : spots_a) {
      const auto before = [](const TensorSpot& x, const TensorSpot& y) {
        return std::pair<std::string_view, std::string_view>(x.tensor, x.worker) <
               std::pair<std::string_view, std::string_view>(y.tensor, y.worker);
      };
      while (b != spots_b.end() && before(*b, a)) ++b;
      if (b == spots_b.end()) return;
      if (before(a, *b)) continue;
      take(difference_of(left, a, right, *b, tolerance_), a);
    }
  }

  void take(Result<std::optional<Parting>> difference, const TensorSpot& spot) {
    ++comparison_.compared_tensors;
    if (!difference.ok()) {
      ++comparison_.damaged;
      return;
    }
    if (!*difference) return;
    Parting parting = **std::move(difference);
    parting.tensor = spot.tensor;
    parting.worker = spot.shown_worker;
    found_.push_back(std::move(parting));
  }

  void report_found() {
    const auto place = [&](const Parting& parting) {
      const auto found = order_.find(parting.tensor);
      return found == order_.end() ? order_.size() : found->second;
    };
    std::stable_sort(found_.begin(), found_.end(),
                     [&](const Parting& x, const Parting& y) { return place(x) < place(y); });
    comparison_.parted_tensors = found_.size();
    if (found_.size() > limits_.partings) found_.resize(limits_.partings);
    comparison_.partings = std::move(found_);
  }

  Trial& a_;
  Trial& b_;
  const double tolerance_;
  const CompareLimits& limits_;
  Comparison& comparison_;
  const std::map<std::string, std::size_t, std::less<>> order_;
  rules::TrialMemory memory_a_;
  rules::TrialMemory memory_b_;
  std::vector<Parting> found_;
};

}  // namespace

Comparison compare_runs(Trial& a, Trial& b, const CompareQuestion& question, const CompareLimits& limits) {
  Comparison comparison;
  comparison.fields = side_by_side(a, b);
  compare_names(a, b, comparison);
  const std::vector<std::int64_t> steps_a = a.steps();
  const std::vector<std::int64_t> steps_b = b.steps();
  std::vector<std::int64_t> common;
  std::set_intersection(steps_a.begin(), steps_a.end(), steps_b.begin(), steps_b.end(), std::back_inserter(common));
  comparison.common_steps = common.size();
  Comparer comparer(a, b, question.tolerance, limits, comparison);
  const std::int64_t end_ns = system_clock().steady_ns() + std::chrono::nanoseconds(limits.time).count();
  for (auto step = std::lower_bound(common.begin(), common.end(), question.from); step != common.end(); ++step) {
    if (comparison.compared_steps > 0 && system_clock().steady_ns() >= end_ns) {
      comparison.cut = true;
      break;
    }
    if (!comparer.compare(*step)) break;
  }
  return comparison;
}

}  // namespace trainwarden::views
