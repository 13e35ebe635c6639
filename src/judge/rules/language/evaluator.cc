#include "judge/rules/language/evaluator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::rules::language {
namespace {

bool is_rank(std::string_view worker, int rank) {
  const std::size_t digits = worker.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
  return parse_int(worker.substr(digits)) == std::optional<std::int64_t>(rank);
}

NodeValue known(double number) {
  return {Knowledge::kKnown, number};
}

double arithmetic(Op op, double a, double b) {
  switch (op) {
    case Op::kNegate: return -a;
    case Op::kAdd: return a + b;
    case Op::kSubtract: return a - b;
    case Op::kMultiply: return a * b;
    case Op::kDivide: return a / b;
    case Op::kAbs: return std::fabs(a);
    case Op::kLog: return std::log(a);
    case Op::kSqrt: return std::sqrt(a);
    // Unlike fmin and fmax these give NaN for NaN.
    case Op::kSmaller: return std::isnan(a) || std::isnan(b) ? a + b : std::min(a, b);
    case Op::kLarger: return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b);
    case Op::kIsNan: return std::isnan(a) ? 1 : 0;
    case Op::kIsFinite: return std::isfinite(a) ? 1 : 0;
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

// A comparison with NaN is false, != too.
bool compare(Op op, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return false;
  switch (op) {
    case Op::kLess: return a < b;
    case Op::kLessEqual: return a <= b;
    case Op::kGreater: return a > b;
    case Op::kGreaterEqual: return a >= b;
    case Op::kEqual: return a == b;
    default: return a != b;
  }
}

double combine(Op op, const std::vector<double>& numbers, double held) {
  const auto count = static_cast<double>(numbers.size());
  switch (op) {
    case Op::kMaxOver: return largest_of(numbers);
    case Op::kMinOver: return smallest_of(numbers);
    case Op::kMeanOver: return mean_of(numbers);
    case Op::kMedianOver: return median_of(numbers);
    case Op::kSumOver: return sum_of(numbers);
    case Op::kCount: return held;
    case Op::kShare: return held / count;
    case Op::kAll: return held == count ? 1 : 0;
    default: return held > 0 ? 1 : 0;  // kAny
  }
}

// Whether the tensor with this number says more about the answer than the one before.
bool is_witness(Op op, double number, double before) {
  if (op == Op::kMaxOver) return number > before || std::isnan(before);
  if (op == Op::kMinOver) return number < before || std::isnan(before);
  if (op == Op::kAll) return number == 0 && before != 0;
  if (op == Op::kAny || op == Op::kCount || op == Op::kShare) return number == 1 && before != 1;
  return false;
}

Result<double> value_of(const TensorSpot& spot, const StepWindow& window) {
  auto scalar = window.scalar(spot);
  if (scalar.ok() || scalar.status().code() != Code::kOutOfRange) return scalar;
  const auto statistics = window.statistics(spot);
  if (!statistics.ok()) return scalar;
  if ((*statistics)->count == 1) return (*statistics)->reduction(Reduction::kMean);
  return Status(Code::kInvalidArgument, fmt::format("tensor \"{}\" has {} elements, and value() is of those with one",
                                                    printable(spot.tensor), (*statistics)->count));
}

double count_of(WhatIsRead reading, const Statistics& statistics) {
  const auto count = static_cast<double>(statistics.count);
  switch (reading) {
    case WhatIsRead::kNanCount: return static_cast<double>(statistics.nan_count);
    case WhatIsRead::kInfCount: return static_cast<double>(statistics.inf_count());
    case WhatIsRead::kZeroCount: return static_cast<double>(statistics.zero_count);
    case WhatIsRead::kZeroFraction: return static_cast<double>(statistics.zero_count) / count;
    default: return count;  // kSize
  }
}

Result<double> read_number(const Node& node, const TensorSpot& spot, const StepWindow& window) {
  if (node.reading == WhatIsRead::kReduction) return window.reduction(spot, node.reduction, node.abs);
  if (node.reading == WhatIsRead::kValue) return value_of(spot, window);
  TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* const statistics, window.statistics(spot));
  return count_of(node.reading, *statistics);
}

}  // namespace

Evaluator::Evaluator(Expression expression)
    : expression_(std::move(expression)),
      scopes_(expression_.scopes.size()),
      answers_(expression_.nodes.size()),
      windows_(expression_.nodes.size()) {
  for (std::size_t i = 0; i < expression_.nodes.size(); ++i) {
    scopes_[static_cast<std::size_t>(expression_.nodes[i].scope)].nodes.push_back(static_cast<int>(i));
  }
}

// Inner scopes have higher numbers, and so are done when those around them ask.
Judgement Evaluator::judge(const StepWindow& window) {
  judgement_ = {};
  for (std::size_t scope = scopes_.size(); scope-- > 0;) {
    collect(scope, window);
    if (scope == 0) break;
    const auto owner = std::find_if(expression_.nodes.begin(), expression_.nodes.end(),
                                    [&](const Node& node) { return node.inner == static_cast<int>(scope); });
    aggregate(*owner, window);
  }
  for (std::size_t subject = 0; subject < scopes_[0].subjects.size(); ++subject) {
    evaluate_for(0, subject, window);
    judge_subject(subject, window.global_step());
  }
  return std::move(judgement_);
}

// The subjects of this step, each with its partners among the tensors of the other selectors.
void Evaluator::collect(std::size_t index, const StepWindow& window) {
  const Scope& scope = expression_.scopes[index];
  ScopeState& state = scopes_[index];
  state.subjects.clear();
  state.partners.clear();
  if (scope.leader < 0) return add_subject(index, nullptr);
  const Selector& leader = expression_.selectors[static_cast<std::size_t>(scope.leader)];
  const std::vector<const TensorSpot*> spots = select(scope.leader, window);
  std::vector<Partners> partners;
  for (const int selector : scope.selectors) {
    partners.push_back(selector == scope.leader ? Partners() : partners_of(selector, window));
  }
  for (const TensorSpot* const spot : spots) {
    add_subject(index, spot);
    for (std::size_t i = 0; i < scope.selectors.size(); ++i) {
      const Selector& selector = expression_.selectors[static_cast<std::size_t>(scope.selectors[i])];
      if (scope.selectors[i] == scope.leader) {
        state.partners.push_back(spot);
        continue;
      }
      const auto found = partners[i].find(join_key(leader, *spot, !selector.variables().empty()));
      state.partners.push_back(found == partners[i].end() ? nullptr : found->second);
    }
  }
}

std::vector<const TensorSpot*> Evaluator::select(int number, const StepWindow& window) {
  const Selector& selector = expression_.selectors[static_cast<std::size_t>(number)];
  std::vector<const TensorSpot*> chosen;
  const auto spots = window.select(selector.selection());
  if (!spots.ok()) {
    judgement_.gaps.first_damage = spots.status();
    return chosen;
  }
  const bool whole = selector.selection().collections.empty();
  for (const TensorSpot& spot : *spots) {
    if (expression_.rank && !is_rank(spot.worker, *expression_.rank)) continue;
    if (whole || selector.match(spot.tensor)) chosen.push_back(&spot);
  }
  return chosen;
}

Evaluator::Partners Evaluator::partners_of(int number, const StepWindow& window) {
  const Selector& selector = expression_.selectors[static_cast<std::size_t>(number)];
  Partners partners;
  for (const TensorSpot* const spot : select(number, window)) {
    partners.emplace(join_key(selector, *spot, !selector.variables().empty()), spot);
  }
  return partners;
}

// What a subject and its partner have in common: the worker, and the values of the variables.
std::string Evaluator::join_key(const Selector& selector, const TensorSpot& spot, bool by_variables) const {
  std::string key = spot.worker;
  if (!by_variables) return key;
  const auto values = selector.match(spot.tensor);
  for (const std::string& value : values.value_or(std::vector<std::string>())) {
    key += '\0';
    key += value;
  }
  return key;
}

void Evaluator::add_subject(std::size_t scope, const TensorSpot* spot) {
  auto& ids = scopes_[scope].ids;
  const std::string key = spot == nullptr ? std::string() : fmt::format("{}\n{}", spot->worker, spot->tensor);
  const auto place = ids.try_emplace(key, static_cast<std::uint32_t>(ids.size())).first;
  scopes_[scope].subjects.push_back({place->second, spot});
  if (ids.size() <= kMostSubjects || !judgement_.overflow.ok()) return;
  judgement_.overflow =
      Status(Code::kResourceExhausted,
             fmt::format("more than {} tensors of all workers are selected; choose fewer of them", kMostSubjects));
}

void Evaluator::evaluate_for(std::size_t scope, std::size_t subject, const StepWindow& window) {
  if (!judgement_.overflow.ok()) return;
  for (const int index : scopes_[scope].nodes) {
    answers_[static_cast<std::size_t>(index)] = answer(node_at(index), index, subject, window);
  }
}

// Of the tensors of which it is known. NaN is left out.
void Evaluator::aggregate(const Node& node, const StepWindow& window) {
  ScopeState& state = scopes_[static_cast<std::size_t>(node.inner)];
  state.held = 0;
  state.witness = {};
  std::vector<double> numbers;
  bool waiting = false;
  double before = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t subject = 0; subject < state.subjects.size(); ++subject) {
    evaluate_for(static_cast<std::size_t>(node.inner), subject, window);
    const NodeValue& each = child(node, 0);
    waiting = waiting || each.knowledge == Knowledge::kWaiting;
    if (each.knowledge != Knowledge::kKnown) continue;
    numbers.push_back(each.number);
    state.held += each.number != 0 ? 1 : 0;
    if (!is_witness(node.op, each.number, before)) continue;
    before = each.number;
    state.witness = *state.subjects[subject].spot;
  }
  if (numbers.empty()) {
    state.answer = {waiting ? Knowledge::kWaiting : Knowledge::kMissing, 0};
  } else {
    state.answer = known(combine(node.op, numbers, state.held));
  }
}

const NodeValue& Evaluator::child(const Node& node, int number) const {
  return answers_[static_cast<std::size_t>(node.children[static_cast<std::size_t>(number)])];
}

NodeValue Evaluator::answer(const Node& node, int index, std::size_t subject, const StepWindow& window) {
  const std::uint32_t id = scopes_[static_cast<std::size_t>(node.scope)].subjects[subject].id;
  if (node.op == Op::kNumber) return known(node.number);
  if (node.op == Op::kStep) return known(static_cast<double>(window.mode_step()));
  if (node.op == Op::kRead) return read(node, subject, window);
  if (is_window(node.op)) return window_answer(index, id, window.global_step());
  if (is_over_tensors(node.op)) return scopes_[static_cast<std::size_t>(node.inner)].answer;
  if (node.op >= Op::kAnd) return logic_answer(node);
  const NodeValue& left = child(node, 0);
  const NodeValue right = node.children[1] < 0 ? left : child(node, 1);
  const Knowledge knowledge = std::max(left.knowledge, right.knowledge);
  if (knowledge != Knowledge::kKnown) return {knowledge, 0};
  const bool comparison = node.op >= Op::kLess && node.op <= Op::kNotEqual;
  if (comparison) return known(compare(node.op, left.number, right.number) ? 1 : 0);
  return known(arithmetic(node.op, left.number, right.number));
}

NodeValue Evaluator::read(const Node& node, std::size_t subject, const StepWindow& window) {
  const Scope& scope = expression_.scopes[static_cast<std::size_t>(node.scope)];
  const ScopeState& state = scopes_[static_cast<std::size_t>(node.scope)];
  const auto slot = std::find(scope.selectors.begin(), scope.selectors.end(), node.selector) - scope.selectors.begin();
  const TensorSpot* const spot = state.partners[subject * scope.selectors.size() + static_cast<std::size_t>(slot)];
  if (spot == nullptr) {
    if (judgement_.gaps.first_unfit.ok()) {
      judgement_.gaps.first_unfit =
          Status(Code::kOutOfRange, fmt::format("nothing of {} is there for \"{}\"",
                                                expression_.selectors[static_cast<std::size_t>(node.selector)].text(),
                                                printable(state.subjects[subject].spot->tensor)));
    }
    return {};
  }
  const auto number = read_number(node, *spot, window);
  if (number.ok()) return known(*number);
  const Code code = number.status().code();
  const bool unfit = code == Code::kOutOfRange || code == Code::kInvalidArgument || code == Code::kNotFound;
  Status& first = unfit ? judgement_.gaps.first_unfit : judgement_.gaps.first_damage;
  if (first.ok()) first = number.status();
  return {};
}

// Over the numbers before this one, which goes in afterwards.
NodeValue Evaluator::window_answer(int index, std::uint32_t subject, std::int64_t step) {
  const Node& node = node_at(index);
  const NodeValue& now = child(node, 0);
  auto& windows = windows_[static_cast<std::size_t>(index)];
  while (windows.size() <= subject) windows.push_back({StepSeries(node.op, static_cast<std::size_t>(node.steps))});
  if (now.knowledge != Knowledge::kKnown) return now;
  Window& mine = windows[subject];
  if (mine.step == step) return mine.answer;
  mine.step = step;
  mine.answer = mine.series.full() ? known(mine.series.answer(now.number)) : NodeValue{Knowledge::kWaiting, 0};
  if (mine.series.push(now.number)) ++window_values_;
  if (window_values_ > kMostWindowValues) {
    judgement_.overflow =
        Status(Code::kResourceExhausted,
               fmt::format("its windows hold more than {} numbers; make them shorter or choose fewer tensors",
                           kMostWindowValues));
  }
  return mine.answer;
}

// What is known of one side may settle it: true or x is true.
NodeValue Evaluator::logic_answer(const Node& node) const {
  const NodeValue& left = child(node, 0);
  if (node.op == Op::kNot) return left.knowledge == Knowledge::kKnown ? known(left.number == 0 ? 1 : 0) : left;
  const NodeValue& right = child(node, 1);
  const double settling = node.op == Op::kOr ? 1 : 0;
  for (const NodeValue* const side : {&left, &right}) {
    if (side->knowledge == Knowledge::kKnown && side->number == settling) return known(settling);
  }
  const Knowledge knowledge = std::max(left.knowledge, right.knowledge);
  return {knowledge, 1 - settling};
}

void Evaluator::judge_subject(std::size_t index, std::int64_t step) {
  if (!judgement_.overflow.ok()) return;
  const Subject& subject = scopes_[0].subjects[index];
  if (held_.size() <= subject.id) held_.resize(subject.id + 1);
  const NodeValue& answer = answers_.back();
  if (answer.knowledge == Knowledge::kWaiting) ++judgement_.waiting;
  if (answer.knowledge != Knowledge::kKnown) return;
  ++judgement_.judged;
  Streak& held = held_[subject.id];
  if (held.last != step) held = {answer.number != 0 ? held.steps + 1 : 0, step};
  if (answer.number == 0 || held.steps < expression_.for_steps) return;
  judgement_.findings.push_back(finding(subject, held.steps));
}

// The comparison, or what else stands in its place, that supports the condition.
const Node& Evaluator::deciding(const Node& node) const {
  if (node.op == Op::kAnd || node.op == Op::kNot) return deciding(node_at(node.children[0]));
  if (node.op == Op::kOr) return deciding(node_at(node.children[child(node, 0).number != 0 ? 0 : 1]));
  return node;
}

// The tensor that decided the first thing within the node that goes over tensors.
const TensorSpot* Evaluator::witness(const Node& node) const {
  if (is_over_tensors(node.op)) {
    const TensorSpot& spot = scopes_[static_cast<std::size_t>(node.inner)].witness;
    return spot.tensor.empty() ? nullptr : &spot;
  }
  for (const int number : node.children) {
    const TensorSpot* const found = number < 0 ? nullptr : witness(node_at(number));
    if (found != nullptr) return found;
  }
  return nullptr;
}

Finding Evaluator::finding(const Subject& subject, std::int64_t steps_held) const {
  const Node& node = deciding(expression_.nodes.back());
  Finding finding;
  finding.steps_held = steps_held;
  const TensorSpot* const spot = subject.spot != nullptr ? subject.spot : witness(node);
  if (spot != nullptr) finding.spot = *spot;
  if (is_over_tensors(node.op)) {
    finding.quantity = expression_.text_of(node);
    finding.value = scopes_[static_cast<std::size_t>(node.inner)].held;
    finding.threshold = 1;
    return finding;
  }
  finding.quantity = expression_.text_of(node_at(node.children[0]));
  finding.value = child(node, 0).number;
  if (node.children[1] >= 0) finding.threshold = child(node, 1).number;
  return finding;
}

}  // namespace trainwarden::rules::language
