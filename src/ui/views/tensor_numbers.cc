#include "ui/views/tensor_numbers.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "read/trial/tensor_lookup.h"

namespace trainwarden::views {
namespace {

using journal::RecordForm;
using Numbers = std::shared_ptr<const TensorNumbers>;

// Some hundred bytes each, with a histogram up to some thousand.
constexpr std::size_t kMostRemembered = 1 << 14;

struct RememberedNumbers {
  journal::Record read_from;  // another one: the step was ended again, by a training that went back to a checkpoint
  Numbers numbers;
};

struct NumbersMemory {
  std::map<std::tuple<std::string, std::int64_t, std::string>, RememberedNumbers> numbers;
};

double& at(TensorNumbers& numbers, Number number) {
  return numbers.numbers[static_cast<std::size_t>(number)];
}

void take(TensorNumbers& numbers, Statistics statistics) {
  at(numbers, Number::kCount) = static_cast<double>(statistics.count);
  at(numbers, Number::kNan) = static_cast<double>(statistics.nan_count);
  at(numbers, Number::kPositiveInf) = static_cast<double>(statistics.positive_inf_count);
  at(numbers, Number::kNegativeInf) = static_cast<double>(statistics.negative_inf_count);
  at(numbers, Number::kZero) = static_cast<double>(statistics.zero_count);
  at(numbers, Number::kMin) = statistics.min;
  at(numbers, Number::kMax) = statistics.max;
  at(numbers, Number::kMean) = statistics.mean();
  at(numbers, Number::kStd) = statistics.deviation();
  at(numbers, Number::kAbsMin) = statistics.abs_min;
  at(numbers, Number::kAbsMax) = statistics.abs_max;
  at(numbers, Number::kAbsMean) = statistics.abs_mean();
  at(numbers, Number::kL1) = statistics.l1();
  at(numbers, Number::kL2) = statistics.l2();
  if (statistics.has_hash) numbers.hash = statistics.hash;
  numbers.has_histogram = statistics.has_histogram;
  numbers.histogram = std::move(statistics.histogram);
}

void take(TensorNumbers& numbers, const SavedReduction& saved) {
  switch (saved.reduction) {
    case Reduction::kMin: at(numbers, saved.abs ? Number::kAbsMin : Number::kMin) = saved.value; break;
    case Reduction::kMax: at(numbers, saved.abs ? Number::kAbsMax : Number::kMax) = saved.value; break;
    case Reduction::kMean: at(numbers, saved.abs ? Number::kAbsMean : Number::kMean) = saved.value; break;
    case Reduction::kStd:
      if (!saved.abs) at(numbers, Number::kStd) = saved.value;
      break;
    case Reduction::kL1: at(numbers, Number::kL1) = saved.value; break;
    case Reduction::kL2: at(numbers, Number::kL2) = saved.value; break;
    case Reduction::kVariance:
    case Reduction::kSum:
    case Reduction::kProd: break;
  }
}

// None when the budget does not suffice.
Result<std::optional<Statistics>> computed(Trial& trial, const TensorSighting& seen, std::string_view tensor,
                                           std::int64_t step, ComputeBudget& budget) {
  const journal::Record& record = *seen.sighting.record(RecordForm::kValue);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto type_and_shape, seen.sighting.reader().read_shape(record));
  const std::int64_t elements = type_and_shape.second.element_count();
  if (std::exchange(budget.touched, true) && elements > budget.elements) return std::optional<Statistics>();
  budget.elements -= elements;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto value, trial.shared_value(tensor, step, Mode::kGlobal, seen.worker));
  TRAINWARDEN_ASSIGN_OR_RETURN(Statistics statistics, compute_statistics(value.view, {.histogram = true}));
  return std::optional(std::move(statistics));
}

Result<Numbers> read_numbers(Trial& trial, const TensorSighting& seen, std::string_view tensor, std::int64_t step,
                             ComputeBudget& budget) {
  auto numbers = std::make_shared<TensorNumbers>();
  numbers->numbers.fill(std::numeric_limits<double>::quiet_NaN());
  numbers->worker = seen.worker;
  const trial::Sighting& sighting = seen.sighting;
  if (const auto& record = sighting.record(RecordForm::kStatistics)) {
    numbers->form = RecordForm::kStatistics;
    TRAINWARDEN_ASSIGN_OR_RETURN(journal::StatisticsRow row, sighting.reader().read_statistics(*record));
    take(*numbers, std::move(row.statistics));
    if (numbers->has_histogram || !sighting.has(RecordForm::kValue)) return Numbers(numbers);
  }
  if (sighting.has(RecordForm::kValue)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto statistics, computed(trial, seen, tensor, step, budget));
    if (!statistics) return Numbers();
    numbers->form = sighting.has(RecordForm::kStatistics) ? RecordForm::kStatistics : RecordForm::kValue;
    take(*numbers, *std::move(statistics));
    return Numbers(numbers);
  }
  if (const auto& record = sighting.record(RecordForm::kScalar)) {
    numbers->form = RecordForm::kScalar;
    TRAINWARDEN_ASSIGN_OR_RETURN(const double scalar, sighting.reader().read_scalar(*record));
    const TensorView view = TensorView::of(&scalar, DType::kFloat64, Shape());
    TRAINWARDEN_ASSIGN_OR_RETURN(Statistics statistics, compute_statistics(view, {.histogram = true}));
    take(*numbers, std::move(statistics));
    return Numbers(numbers);
  }
  if (const auto& record = sighting.record(RecordForm::kReductions)) {
    numbers->form = RecordForm::kReductions;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto saved, sighting.reader().read_reductions(*record));
    for (const SavedReduction& reduction : saved) take(*numbers, reduction);
    return Numbers(numbers);
  }
  return trial::not_kept({.tensor = tensor, .step = step}, sighting, "a form that has numbers");
}

std::vector<std::int64_t> joined(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> all;
  all.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

const journal::Record& any_record(const trial::Sighting& sighting) {
  int form = 0;
  while (!sighting.has(static_cast<RecordForm>(form))) ++form;
  return *sighting.record(static_cast<RecordForm>(form));
}

}  // namespace

Result<std::shared_ptr<const TensorNumbers>> tensor_numbers(OpenRun::Use& use, std::string_view tensor,
                                                            std::int64_t step, std::string_view worker,
                                                            ComputeBudget& budget) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const TensorSighting seen, see_tensor(use.trial(), tensor, step, worker));
  auto& remembered = use.memory<NumbersMemory>().numbers;
  const auto key = std::tuple(std::string(tensor), step, seen.worker);
  const journal::Record& read_from = any_record(seen.sighting);
  const auto known = remembered.find(key);
  if (known != remembered.end() && known->second.read_from == read_from) return known->second.numbers;
  TRAINWARDEN_ASSIGN_OR_RETURN(const Numbers numbers, read_numbers(use.trial(), seen, tensor, step, budget));
  if (remembered.size() >= kMostRemembered) remembered.clear();
  if (numbers) remembered.insert_or_assign(key, RememberedNumbers{read_from, numbers});
  return numbers;
}

NumbersOverSteps numbers_over_steps(OpenRun::Use& use, std::string_view tensor, std::span<const std::int64_t> steps,
                                    std::string_view worker, ComputeBudget& budget) {
  NumbersOverSteps over;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const auto numbers = tensor_numbers(use, tensor, *step, worker, budget);
    if (!numbers.ok()) {
      ++over.damaged;
    } else if (!*numbers) {
      ++over.pending;
    } else {
      over.steps.push_back(*step);
      over.numbers.push_back(*numbers);
    }
  }
  std::reverse(over.steps.begin(), over.steps.end());
  std::reverse(over.numbers.begin(), over.numbers.end());
  return over;
}

std::vector<std::int64_t> steps_with_numbers(const TensorPresence& presence, std::int64_t from, std::int64_t to,
                                             std::optional<Mode> mode) {
  std::vector<std::int64_t> steps;
  for (const StepsOfForm& form : presence.forms) {
    if (form.form != RecordForm::kShape) steps = joined(steps, form.steps);
  }
  return steps_within(presence, steps, from, to, mode);
}

std::vector<std::int64_t> steps_within(const TensorPresence& presence, std::span<const std::int64_t> steps,
                                       std::int64_t from, std::int64_t to, std::optional<Mode> mode) {
  std::vector<std::int64_t> wanted;
  for (const StepsOfMode& of_mode : presence.modes) {
    if (!mode || *mode == Mode::kGlobal || *mode == of_mode.mode) wanted = joined(wanted, of_mode.steps);
  }
  std::vector<std::int64_t> chosen;
  std::set_intersection(steps.begin(), steps.end(), wanted.begin(), wanted.end(), std::back_inserter(chosen));
  chosen.erase(std::upper_bound(chosen.begin(), chosen.end(), to), chosen.end());
  chosen.erase(chosen.begin(), std::lower_bound(chosen.begin(), chosen.end(), from));
  return chosen;
}

}  // namespace trainwarden::views
