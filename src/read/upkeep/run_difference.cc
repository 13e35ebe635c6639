#include "read/upkeep/run_difference.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "core/base/no_throw.h"
#include "core/base/regex.h"
#include "read/trial/trial_access.h"
#include "read/upkeep/many_tasks.h"

namespace trainwarden::upkeep {
namespace {

using journal::Record;
using journal::RecordForm;
using TensorKey = std::pair<std::string, std::string>;  // worker, tensor

struct TrialPair {
  std::unique_ptr<Trial> a;
  std::unique_ptr<Trial> b;
};

// Each thread has its own readers: one thread at a time may use one.
class TrialPool {
 public:
  TrialPool(const storage::Location& a, const storage::Location& b) : a_(a), b_(b) {}

  Result<std::unique_ptr<TrialPair>> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto pair = std::move(free_.back());
        free_.pop_back();
        return pair;
      }
    }
    auto pair = std::make_unique<TrialPair>();
    TRAINWARDEN_ASSIGN_OR_RETURN(pair->a, TrialAccess::open(a_));
    TRAINWARDEN_ASSIGN_OR_RETURN(pair->b, TrialAccess::open(b_));
    return pair;
  }
  void give_back(std::unique_ptr<TrialPair> pair) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(pair));
  }

 private:
  const storage::Location& a_;
  const storage::Location& b_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TrialPair>> free_;
};

// The records of one tensor at one step of one worker, one for each form.
using TensorForms = std::map<RecordForm, Record>;
using StepForms = std::map<std::string, TensorForms, std::less<>>;

trial::WorkerJournal* find_worker(Trial& trial, std::string_view name) {
  for (trial::WorkerJournal* const worker : TrialAccess::journals(trial)) {
    if (worker->name() == name && worker->readable()) return worker;
  }
  return nullptr;
}

Result<StepForms> forms_at(trial::WorkerJournal& worker, std::int64_t step) {
  StepForms forms;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::span<const Record> records, worker.records_at(step));
  for (const Record& record : records) forms[worker.reader().tensors()[record.tensor].name][record.form] = record;
  return forms;
}

struct ComparedPair {
  ValueDifference difference;
  bool by_statistics = false;
  bool is_comparable = true;
};

// One tensor at one step, in the fullest form that both kept.
class PairComparer {
 public:
  PairComparer(TrialPair& trials, journal::JournalReader& a, journal::JournalReader& b, const Tolerance& tolerance)
      : trials_(trials), a_(a), b_(b), tolerance_(tolerance) {}

  Result<ComparedPair> compare(const TensorForms& a, const TensorForms& b, const std::string& tensor,
                               const std::string& worker, std::int64_t step) {
    if (both(a, b, RecordForm::kValue)) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const TensorValue left, a_.read_value(a.at(RecordForm::kValue)));
      TRAINWARDEN_ASSIGN_OR_RETURN(const TensorValue right, b_.read_value(b.at(RecordForm::kValue)));
      return ComparedPair{compare_values(left, right, tolerance_), false, true};
    }
    if (both(a, b, RecordForm::kScalar)) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const double left, a_.read_scalar(a.at(RecordForm::kScalar)));
      TRAINWARDEN_ASSIGN_OR_RETURN(const double right, b_.read_scalar(b.at(RecordForm::kScalar)));
      return ComparedPair{compare_numbers(left, right, tolerance_), false, true};
    }
    if (has_statistics(a) && has_statistics(b)) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics left, trials_.a->statistics(tensor, step, Mode::kGlobal, worker));
      TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics right, trials_.b->statistics(tensor, step, Mode::kGlobal, worker));
      return ComparedPair{compare_statistics(left, right, tolerance_), true, true};
    }
    if (both(a, b, RecordForm::kReductions)) return compare_reductions(a, b);
    if (both(a, b, RecordForm::kShape)) return compare_shapes(a, b);
    return ComparedPair{{}, true, false};
  }

 private:
  static bool both(const TensorForms& a, const TensorForms& b, RecordForm form) {
    return a.contains(form) && b.contains(form);
  }
  static bool has_statistics(const TensorForms& forms) {
    return forms.contains(RecordForm::kStatistics) || forms.contains(RecordForm::kValue) ||
           forms.contains(RecordForm::kScalar);
  }

  Result<ComparedPair> compare_reductions(const TensorForms& a, const TensorForms& b) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto left, a_.read_reductions(a.at(RecordForm::kReductions)));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto right, b_.read_reductions(b.at(RecordForm::kReductions)));
    ComparedPair pair{{}, true, false};
    for (const SavedReduction& x : left) {
      for (const SavedReduction& y : right) {
        if (x.reduction != y.reduction || x.abs != y.abs) continue;
        pair.is_comparable = true;
        ValueDifference one = compare_numbers(x.value, y.value, tolerance_);
        if (!one.differs() || (pair.difference.differs() && one.max_abs <= pair.difference.max_abs)) continue;
        one.what = describe(x.reduction, x.abs);
        pair.difference = std::move(one);
      }
    }
    return pair;
  }

  Result<ComparedPair> compare_shapes(const TensorForms& a, const TensorForms& b) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto left, a_.read_shape(a.at(RecordForm::kShape)));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto right, b_.read_shape(b.at(RecordForm::kShape)));
    ComparedPair pair{{}, true, true};
    if (left != right) {
      pair.difference.what = "shape " + left.second.to_string() + " and " + right.second.to_string();
      if (left.first != right.first) {
        pair.difference.what = "dtype " + std::string(name(left.first)) + " and " + std::string(name(right.first));
      }
    }
    return pair;
  }

  TrialPair& trials_;
  journal::JournalReader& a_;
  journal::JournalReader& b_;
  const Tolerance& tolerance_;
};

class RunDiffer {
 public:
  RunDiffer(const storage::Location& a, const storage::Location& b, const DiffQuestion& question)
      : pool_(a, b), question_(question) {}

  Result<RunDifference> run() {
    for (const std::string& pattern : question_.include) {
      TRAINWARDEN_ASSIGN_OR_RETURN(Regex regex, Regex::compile(pattern));
      patterns_.push_back(std::move(regex));
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(auto pair, pool_.take());
    plan(*pair);
    pool_.give_back(std::move(pair));
    TRAINWARDEN_RETURN_IF_ERROR(for_each_task(common_.size(), question_.threads, [&](std::size_t i) {
      if (question_.first_only && common_[i] > first_differing_.load()) return Status();
      auto taken = pool_.take();
      if (!taken.ok()) return taken.status();
      const Status status = compare_step(**taken, common_[i]);
      pool_.give_back(*std::move(taken));
      return status;
    }));
    finish();
    return std::move(difference_);
  }

 private:
  bool is_wanted(std::string_view tensor) const {
    if (patterns_.empty()) return true;
    return std::any_of(patterns_.begin(), patterns_.end(), [&](const Regex& each) { return each.found_in(tensor); });
  }

  std::vector<std::int64_t> steps_of(const Trial& trial) const {
    std::vector<std::int64_t> steps = trial.steps(Mode::kGlobal, /*include_incomplete=*/true);
    std::erase_if(steps, [&](std::int64_t step) { return step < question_.first_step || step >= question_.end_step; });
    return steps;
  }

  std::vector<std::string> names_of(const Trial& trial) const {
    std::vector<std::string> names = trial.tensor_names().value_or({});  // a query without a pattern does not fail
    std::erase_if(names, [&](const std::string& each) { return !is_wanted(each); });
    return names;
  }

  template <class T>
  static void split(const std::vector<T>& a, const std::vector<T>& b, std::vector<T>& only_a, std::vector<T>& only_b,
                    std::vector<T>& common) {
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only_a));
    std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(only_b));
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  }

  void plan(TrialPair& trials) {
    split(steps_of(*trials.a), steps_of(*trials.b), difference_.steps_only_a, difference_.steps_only_b, common_);
    std::vector<std::string> common_tensors;
    split(names_of(*trials.a), names_of(*trials.b), difference_.tensors_only_a, difference_.tensors_only_b,
          common_tensors);
    common_tensors_.insert(common_tensors.begin(), common_tensors.end());
    split(trials.a->workers(), trials.b->workers(), difference_.workers_only_a, difference_.workers_only_b, workers_);
    difference_.common_steps = common_.size();
    // As run A first saved them: that is the order in which the training made them.
    for (trial::WorkerJournal* const worker : TrialAccess::journals(*trials.a)) {
      if (!worker->readable()) continue;
      for (const journal::JournalTensor& tensor : worker->reader().tensors())
        order_.emplace(tensor.name, order_.size());
    }
  }

  Status compare_step(TrialPair& trials, std::int64_t step) {
    bool differs = false;
    for (const std::string& name : workers_) {
      trial::WorkerJournal* const a = find_worker(*trials.a, name);
      trial::WorkerJournal* const b = find_worker(*trials.b, name);
      if (a == nullptr || b == nullptr) continue;
      TRAINWARDEN_ASSIGN_OR_RETURN(const StepForms forms_a, forms_at(*a, step));
      TRAINWARDEN_ASSIGN_OR_RETURN(const StepForms forms_b, forms_at(*b, step));
      PairComparer comparer(trials, a->reader(), b->reader(), question_.tolerance);
      for (const auto& [tensor, forms] : forms_a) {
        if (!common_tensors_.contains(tensor)) continue;
        const auto other = forms_b.find(tensor);
        if (other == forms_b.end()) {
          differs = true;
          note_alone({name, tensor}, step, /*in_a=*/true);
          continue;
        }
        const auto pair = comparer.compare(forms, other->second, tensor, name, step);
        if (!pair.ok() && pair.status().code() != Code::kDataLoss && pair.status().code() != Code::kOutOfRange) {
          return pair.status();
        }
        differs = note_pair({name, tensor}, step, pair) || differs;
      }
      for (const auto& [tensor, forms] : forms_b) {
        if (!common_tensors_.contains(tensor) || forms_a.contains(tensor)) continue;
        differs = true;
        note_alone({name, tensor}, step, /*in_a=*/false);
      }
    }
    note_step(step, differs);
    return {};
  }

  TensorDifference& entry(const TensorKey& key) {
    TensorDifference& entry = found_[key];
    entry.worker = key.first;
    entry.tensor = key.second;
    return entry;
  }

  void note_alone(const TensorKey& key, std::int64_t step, bool in_a) {
    const std::lock_guard lock(mutex_);
    TensorDifference& tensor = entry(key);
    ++(in_a ? tensor.only_a : tensor.only_b);
    if (tensor.first_step < 0 || step < tensor.first_step) {
      tensor.first_step = step;
      tensor.at_first = {};
      tensor.at_first.what = in_a ? "only the first run has it" : "only the second run has it";
    }
  }

  bool note_pair(const TensorKey& key, std::int64_t step, const Result<ComparedPair>& pair) {
    const std::lock_guard lock(mutex_);
    TensorDifference& tensor = entry(key);
    if (!pair.ok()) {
      ++tensor.unreadable;
      ++difference_.unreadable;
      return false;
    }
    if (!pair->is_comparable) return false;
    ++tensor.compared;
    if (pair->by_statistics) ++tensor.by_statistics;
    if (pair->difference.approximate) ++tensor.approximate;
    if (!pair->difference.differs()) return false;
    ++tensor.differing;
    const ValueDifference& found = pair->difference;
    if (tensor.first_step < 0 || step < tensor.first_step) {
      tensor.first_step = step;
      tensor.at_first = found;
    }
    const bool is_worse =
        found.max_abs > tensor.max_abs || (found.max_abs == tensor.max_abs && step < tensor.worst_step);
    if (tensor.worst_step < 0 || is_worse) tensor.worst_step = step;
    tensor.max_abs = std::max(tensor.max_abs, found.max_abs);
    tensor.max_rel = std::max(tensor.max_rel, found.max_rel);
    tensor.max_ulp = std::max(tensor.max_ulp, found.max_ulp);
    return true;
  }

  void note_step(std::int64_t step, bool differs) {
    if (differs) {
      std::int64_t first = first_differing_.load();
      while (step < first && !first_differing_.compare_exchange_weak(first, step)) {
      }
    }
    const std::lock_guard lock(mutex_);
    ++difference_.compared_steps;
    if (question_.progress) question_.progress(difference_.compared_steps, common_.size());
  }

  // Steps behind the first one that differs may have been looked at side by side with it, or not.
  void finish() {
    for (auto& [key, tensor] : found_) {
      if (question_.first_only && tensor.first_step > first_differing_.load()) continue;
      difference_.tensors.push_back(std::move(tensor));
    }
    const auto place = [&](const TensorDifference& tensor) {
      const auto known = order_.find(tensor.tensor);
      return std::tuple(!tensor.differs(), tensor.differs() ? tensor.first_step : 0,
                        known == order_.end() ? order_.size() : known->second, tensor.worker);
    };
    std::stable_sort(difference_.tensors.begin(), difference_.tensors.end(),
                     [&](const TensorDifference& x, const TensorDifference& y) { return place(x) < place(y); });
  }

  TrialPool pool_;
  const DiffQuestion& question_;
  std::vector<Regex> patterns_;
  std::vector<std::int64_t> common_;
  std::vector<std::string> workers_;
  std::set<std::string, std::less<>> common_tensors_;
  std::map<std::string, std::size_t, std::less<>> order_;
  std::atomic<std::int64_t> first_differing_{std::numeric_limits<std::int64_t>::max()};
  std::mutex mutex_;
  RunDifference difference_;
  std::map<TensorKey, TensorDifference> found_;
};

}  // namespace

std::int64_t RunDifference::first_step() const {
  return tensors.empty() || !tensors.front().differs() ? -1 : tensors.front().first_step;
}

bool RunDifference::same() const {
  const bool has_alone = !steps_only_a.empty() || !steps_only_b.empty() || !tensors_only_a.empty() ||
                         !tensors_only_b.empty() || !workers_only_a.empty() || !workers_only_b.empty();
  return !has_alone && first_step() < 0 && unreadable == 0;
}

std::uint64_t RunDifference::approximate() const {
  std::uint64_t count = 0;
  for (const TensorDifference& tensor : tensors) count += tensor.approximate;
  return count;
}

Result<RunDifference> diff_runs(const storage::Location& a, const storage::Location& b, const DiffQuestion& question) {
  return no_throw([&]() -> Result<RunDifference> { return RunDiffer(a, b, question).run(); });
}

}  // namespace trainwarden::upkeep
