#include "judge/diagnosis/history.h"

#include <algorithm>
#include <cmath>

#include "judge/diagnosis/names.h"
#include "judge/diagnosis/program_text.h"

namespace trainwarden::diagnosis {
namespace {

constexpr std::size_t kMaxSnapshots = 600;
constexpr std::size_t kMaxFormers = 3;
constexpr std::size_t kMaxEvaluations = 4096;
constexpr std::size_t kMaxLosses = 1 << 17;
constexpr std::size_t kMaxPrints = 1 << 16;
constexpr std::size_t kMaxOnceStepped = 4096;
constexpr std::size_t kMaxSignals = 64;
constexpr std::size_t kMaxGraphs = 8;
constexpr std::size_t kMaxRules = 256;
constexpr std::size_t kMaxBadBatches = 256;
constexpr std::size_t kMaxPrintedSeries = 24;
constexpr std::size_t kMaxPrintedNumbers = 2048;

// The losses and fingerprints of several steps are written together: those are series, not parts of one step.
constexpr std::string_view kLookSteps = "look_steps", kLooks = "looks", kPrintSteps = "print_steps", kPrints = "prints",
                           kMemorySteps = "memory_steps", kMemories = "memories";

// Of a series that has grown too long each second member goes, but for the first ones, which tell how the training
// began, and for the later half, which tells how it goes on: at what distances it was looked at must not matter to who
// judges it.
constexpr std::size_t kKeptFirst = 64;

template <class Member>
void make_room(std::vector<Member>& series, std::size_t limit) {
  if (series.size() < limit) return;
  const std::size_t middle = series.size() / 2;
  std::size_t kept = std::min(kKeptFirst, middle);
  for (std::size_t i = kept + 1; i < middle; i += 2) series[kept++] = std::move(series[i]);
  series.erase(series.begin() + static_cast<std::ptrdiff_t>(kept),
               series.begin() + static_cast<std::ptrdiff_t>(middle));
}

void make_room(StepNumbers& series) {
  make_room(series.steps, kMaxLosses);
  make_room(series.values, kMaxLosses);
}

void add_losses(StepNumbers& series, const Snapshot& record) {
  const Values* steps = record.find(kLookSteps);
  const Values* losses = record.find(kLooks);
  if (steps == nullptr || losses == nullptr) return;
  for (std::size_t i = 0; i < std::min(steps->size(), losses->size()); ++i) {
    const auto step = static_cast<std::int64_t>((*steps)[i]);
    if (!series.empty() && series.steps.back() == step)
      continue;  // of several backward passes the first one stands for all
    make_room(series);
    series.steps.push_back(step);
    series.values.push_back((*losses)[i]);
  }
}

// What was read in between, and what it was when that was written. Steps rise.
void add_memory(std::vector<std::pair<std::int64_t, double>>& memory, const Snapshot& record) {
  const auto add = [&](double step, double bytes) {
    constexpr double kMostStep = 9e15, kMostBytes = 1e15;
    if (!(std::abs(step) < kMostStep) || !(bytes > 0 && bytes < kMostBytes)) return;
    const auto at = static_cast<std::int64_t>(step);
    if (!memory.empty() && memory.back().first >= at) return;
    make_room(memory, kMaxPrints);
    memory.emplace_back(at, bytes);
  };
  const Values* const steps = record.find(kMemorySteps);
  const Values* const bytes = record.find(kMemories);
  const std::size_t count = steps == nullptr || bytes == nullptr ? 0 : std::min(steps->size(), bytes->size());
  for (std::size_t i = 0; i < count; ++i) add((*steps)[i], (*bytes)[i]);
  add(static_cast<double>(record.step), record.at("memory"));
}

// A mean squared error that the program computes itself is the loss where the training's is one.
Evaluated evaluated(const Snapshot& record, const Structure& structure) {
  Evaluated result;
  result.after_step = static_cast<std::int64_t>(record.at("eval_after"));
  result.measured = {record.at("eval_loss"), record.at("eval_accuracy")};
  if (!std::isfinite(result.measured.loss) && structure.compares_squares())
    result.measured.loss = record.at("eval_square");
  const double calls = record.at("eval_calls");
  result.batches = std::isfinite(calls) ? static_cast<std::int64_t>(calls) : 0;
  result.numbers = record;
  return result;
}

// Of one, or of a hundred.
double share_of(double value) {
  constexpr double kMaxShare = 1.5;
  return value > kMaxShare ? value / 100 : value;
}

Counts counts_of(const Values& values) {
  const auto at = [&](std::size_t index) { return index < values.size() ? values[index] : 0; };
  return {at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(8), at(9), at(10), at(11), at(12), at(13)};
}

}  // namespace

bool EvaluationScore::is_known() const {
  return std::isfinite(loss) || std::isfinite(accuracy);
}

const Values* Snapshot::find(std::string_view name) const {
  const auto found = values.find(name);
  return found == values.end() ? nullptr : &found->second;
}

double Snapshot::at(std::string_view name, std::size_t index) const {
  const Values* found = find(name);
  return found != nullptr && index < found->size() ? (*found)[index] : std::nan("");
}

bool Structure::compares_squares() const {
  return !compared.empty() && contains(lower_case(compared.front().function), "mse");
}

double Parameter::fan_in() const {
  double count = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) count *= static_cast<double>(shape[i]);
  return count;
}

std::int64_t Parameter::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= std::clamp<std::int64_t>(size, 0, 1 << 20);
  return count;
}

const Module* Structure::module(std::string_view name) const {
  const auto found =
      std::find_if(modules.begin(), modules.end(), [&](const Module& each) { return each.name == name; });
  return found == modules.end() ? nullptr : &*found;
}

void TrainingHistory::take_text(std::string_view name, std::string_view text) {
  if (name == "examination/layout") {
    auto read = read_layout(text);
    if (!read.ok()) ++unreadable;
    layout_ = read.ok() ? *std::move(read) : decltype(layout_)();
  } else if (name == "examination/structure") {
    auto read = read_structure(text);
    if (read.ok()) {
      for (const Parameter& parameter : structure.parameters) {
        if (!parameter.optimizers.empty() && once_stepped.size() < kMaxOnceStepped) once_stepped.insert(parameter.name);
        if (!parameter.trainable && once_frozen.size() < kMaxOnceStepped) once_frozen.insert(parameter.name);
      }
      if (!has_new_structure_) older_structure_ = std::move(structure);
      has_new_structure_ = true;
      structure = *std::move(read);
      for (const auto& former : formers_) former->structure.loaded = structure.loaded;
    } else
      ++unreadable;
  } else if (name == "examination/graph" && graphs.size() < kMaxGraphs) {
    auto read = read_graph(text);
    if (read.ok())
      graphs.push_back(*std::move(read));
    else
      ++unreadable;
  } else if (name == "examination/printed") {
    auto read = read_printed_lines(text);
    if (!read.ok()) ++unreadable;
    if (read.ok()) std::for_each(read->begin(), read->end(), [&](const PrintedLine& line) { take_printed(line); });
  }
}

void TrainingHistory::take_numbers(std::span<const double> numbers, std::int64_t mode_step) {
  std::size_t wanted = 0;
  for (const auto& [name, count] : layout_) wanted += count;
  if (wanted != numbers.size()) {
    ++unreadable;
    return;
  }
  if (examinations++ == 0) losses = {}, evaluations.clear();
  Snapshot record{mode_step, {}};
  std::size_t at = 0;
  for (const auto& [name, count] : layout_) {
    record.values[name].assign(numbers.begin() + static_cast<std::ptrdiff_t>(at),
                               numbers.begin() + static_cast<std::ptrdiff_t>(at + count));
    at += count;
  }
  const double training = record.at("training");
  const bool is_another = std::isfinite(training) && training != training_;
  const bool begins = is_another && !resume_training(training);
  if (begins) begin_training(training);
  older_graphs_ = graphs.size();
  has_new_structure_ = false;
  add_losses(losses, record);
  if (const Values* steps = record.find(kPrintSteps)) {
    const Values* values = record.find(kPrints);
    for (std::size_t i = 0; values != nullptr && i < std::min(steps->size(), values->size()); ++i) {
      if (prints.size() < kMaxPrints) prints.emplace_back(static_cast<std::int64_t>((*steps)[i]), (*values)[i]);
    }
  }
  if (const Values* found = record.find("light_prints")) {
    const std::size_t room = kMaxPrints - std::min(kMaxPrints, light_prints.size());
    light_prints.insert(light_prints.end(), found->begin(),
                        found->begin() + static_cast<std::ptrdiff_t>(std::min(room, found->size())));
  }
  if (const Values* found = record.find("counts")) {
    counts = counts_of(*found);
    if (begins) counts_before = counts;
    for (const auto& former : formers_) {
      if (!former->counts_after) former->counts_after = counts;
    }
    for (const auto& former : formers_) former->counts = counts;  // of the process
  }
  if (const double seen = record.at("outside", 1); std::isfinite(seen)) {
    outside_changed += record.at("outside", 0);
    outside_seen += seen;
    if (const double evaluated = record.at("outside", 3); std::isfinite(evaluated)) {
      evaluated_changed += record.at("outside", 2);
      evaluated_seen += evaluated;
    }
  }
  if (const double spent = record.at("spent_seconds"); std::isfinite(spent)) spent_seconds = spent;
  if (record.find("eval_after") != nullptr) take_evaluation(evaluated(record, structure));
  if (const double step = record.at("step"); std::isfinite(step)) {
    record.step = static_cast<std::int64_t>(step);
    last_step = std::max(last_step, record.step);
    add_memory(memory, record);
  }
  for (const std::string_view series : {kLookSteps, kLooks, kPrintSteps, kPrints, kMemorySteps, kMemories})
    record.values.erase(std::string(series));
  const bool is_full = record.find("gradient") != nullptr || record.find("loss") != nullptr;
  if (!is_full) return;
  ++fulls;
  make_room(snapshots, kMaxSnapshots);
  snapshots.push_back(std::move(record));
}

void TrainingHistory::take_printed(const PrintedLine& line) {
  EvaluationScore told;
  for (PrintedMetric& metric : metrics_in(line)) {
    if (metric.kind == PrintedKind::kLoss && metric.is_of_training) printed_loss = metric.value;
    if (!std::isfinite(metric.value)) continue;  // of a series it tells nothing
    auto series = std::find_if(printed.begin(), printed.end(),
                               [&](const PrintedSeries& each) { return each.name == metric.name; });
    if (series == printed.end()) {
      if (printed.size() == kMaxPrintedSeries) continue;
      series = printed.insert(
          printed.end(), {metric.name, metric.kind, metric.is_of_training, metric.is_called_so, metric.metric, {}});
    }
    if (!series->numbers.empty() && series->numbers.steps.back() >= line.step) continue;
    make_room(series->numbers.steps, kMaxPrintedNumbers);
    make_room(series->numbers.values, kMaxPrintedNumbers);
    series->numbers.steps.push_back(line.step);
    series->numbers.values.push_back(metric.value);
    if (metric.is_of_training) continue;
    // Of several of a kind the first one counts.
    const bool is_first = std::none_of(printed.begin(), series, [&](const PrintedSeries& each) {
      return each.kind == metric.kind && !each.is_of_training;
    });
    if (is_first && metric.kind == PrintedKind::kAccuracy) told.accuracy = share_of(metric.value);
    if (is_first && metric.kind == PrintedKind::kLoss && is_like_ours(metric.value)) told.loss = metric.value;
  }
  take_printed_evaluation(line.step, told);
}

// Is a loss that the program prints that of the training, for other data, and no sum or another function?
bool TrainingHistory::is_like_ours(double loss) {
  constexpr double kFactor = 3;
  if (!is_printed_loss_like_ours_.has_value() && !losses.empty()) {
    const double share = loss / losses.values.back();
    is_printed_loss_like_ours_ = share > 1 / kFactor && share < kFactor;
  }
  return is_printed_loss_like_ours_.value_or(false);
}

void TrainingHistory::take_printed_evaluation(std::int64_t after_step, const EvaluationScore& printed_score) {
  if (!printed_score.is_known() || (!evaluations.empty() && evaluations.back().after_step > after_step)) return;
  if (evaluations.empty() || evaluations.back().after_step < after_step) {
    make_room(evaluations, kMaxEvaluations);
    evaluations.emplace_back();
    evaluations.back().after_step = after_step;
  }
  EvaluationScore& known = evaluations.back().printed;
  if (!std::isfinite(known.loss)) known.loss = printed_score.loss;
  if (!std::isfinite(known.accuracy)) known.accuracy = printed_score.accuracy;
  choose_scores();
}

// One that was looked at.
void TrainingHistory::take_evaluation(Evaluated evaluation) {
  if (!evaluations.empty() && evaluations.back().after_step == evaluation.after_step &&
      evaluations.back().batches == 0) {
    evaluation.printed = evaluations.back().printed;
    evaluations.pop_back();
  }
  make_room(evaluations, kMaxEvaluations);
  evaluations.push_back(std::move(evaluation));
  choose_scores();
}

// All of one kind, since a program may print another number than it trains. What was measured counts, unless that is of
// a few evaluations only, of which many were printed; and of answers, which a program may compare for several reasons,
// what it says, unless its loss function was seen with them.
void TrainingHistory::choose_scores() {
  constexpr std::size_t kMany = 5, kTimes = 3;
  std::size_t losses_seen = 0, losses_told = 0, answers_seen = 0, answers_told = 0;
  for (const Evaluated& each : evaluations) {
    losses_seen += std::isfinite(each.measured.loss) ? 1 : 0, losses_told += std::isfinite(each.printed.loss) ? 1 : 0;
    answers_seen += std::isfinite(each.measured.accuracy) ? 1 : 0;
    answers_told += std::isfinite(each.printed.accuracy) ? 1 : 0;
  }
  const auto are_more = [](std::size_t told, std::size_t seen) { return told >= kMany && told >= kTimes * seen; };
  const bool takes_loss = losses_seen == 0 || are_more(losses_told, losses_seen);
  const bool takes_answers =
      losses_seen == 0 ? answers_told > 0 && answers_told >= answers_seen : are_more(answers_told, answers_seen);
  for (Evaluated& each : evaluations) {
    each.loss = takes_loss ? each.printed.loss : each.measured.loss;
    each.accuracy = takes_answers ? each.printed.accuracy : each.measured.accuracy;
  }
}

// Graph and structure that came with the first numbers of another training are its own already.
void TrainingHistory::set_aside() {
  auto former = std::make_shared<TrainingHistory>(*this);
  former->formers_.clear();  // no chains of them
  if (has_new_structure_) former->structure = older_structure_;
  former->graphs.resize(std::min(older_graphs_, former->graphs.size()));
  formers_.push_back(std::move(former));
  if (formers_.size() <= kMaxFormers) return;
  formers_.erase(std::min_element(formers_.begin(), formers_.end(), [](const auto& one, const auto& other) {
    return one->snapshots.size() < other->snapshots.size();
  }));
}

void TrainingHistory::begin_training(double training) {
  set_aside();
  training_ = training;
  for (const auto& former : formers_)
    former->structure.loaded = structure.loaded;  // by the process, whatever it trained
  snapshots.clear();
  was_resumed_ = false;
  has_seen_start = false;
  fulls = 0;
  outside_changed = outside_seen = evaluated_changed = evaluated_seen = 0;
  evaluations.clear();
  printed.clear();
  is_printed_loss_like_ours_.reset();
  losses = {};
  saved_loss.reset();
  printed_loss.reset();
  prints.clear();
  light_prints.clear();
  signals.clear();
  bad_batches.clear();
  graphs.erase(graphs.begin(), graphs.begin() + static_cast<std::ptrdiff_t>(std::min(older_graphs_, graphs.size())));
}

// A training goes on that another one has interrupted, as a probe of what it has come to. False: nothing is known of
// it.
bool TrainingHistory::resume_training(double training) {
  const auto found =
      std::find_if(formers_.begin(), formers_.end(), [&](const auto& former) { return former->training_ == training; });
  if (found == formers_.end()) return false;
  const std::shared_ptr<TrainingHistory> resumed = *found;
  formers_.erase(found);
  set_aside();
  resumed->formers_ = std::move(formers_);
  resumed->layout_ = std::move(layout_);
  resumed->rules = std::move(rules);
  resumed->memory = std::move(memory);
  resumed->last_step = last_step;
  resumed->examinations = examinations;
  resumed->unreadable = unreadable;
  resumed->was_resumed_ = true;
  resumed->counts_after.reset();
  if (has_new_structure_) resumed->structure = std::move(structure);
  TrainingHistory now = std::move(*resumed);
  *this = std::move(now);
  return true;
}

void TrainingHistory::take_signal(std::string_view name, double value, std::int64_t mode_step) {
  auto found = signals.find(name);
  if (found == signals.end()) {
    if (signals.size() >= kMaxSignals) return;
    found = signals.emplace(std::string(name), StepNumbers()).first;
  }
  make_room(found->second);
  found->second.steps.push_back(mode_step);
  found->second.values.push_back(value);
}

// Steps of an evaluation that follow the same train step are one.
void TrainingHistory::take_loss(bool is_evaluation, double loss, std::int64_t mode_step) {
  if (examinations > 0) return;
  if (!is_evaluation) {
    if (mode_step <= last_step) return;
    make_room(losses);
    losses.steps.push_back(mode_step);
    losses.values.push_back(loss);
    last_step = mode_step;
    return;
  }
  if (evaluations.empty() || evaluations.back().after_step != last_step) {
    make_room(evaluations, kMaxEvaluations);
    evaluations.emplace_back();
    evaluations.back().after_step = last_step;
    evaluations.back().loss = 0;
  }
  Evaluated& evaluation = evaluations.back();
  evaluation.loss += (loss - evaluation.loss) / static_cast<double>(++evaluation.batches);
}

void TrainingHistory::take_bad_samples(std::string_view text, std::int64_t mode_step) {
  auto read = read_bad_batches(text);
  if (!read.ok()) {
    ++unreadable;
    return;
  }
  for (BadBatch& batch : *read) {
    if (bad_batches.size() == kMaxBadBatches) return;
    batch.step = mode_step;
    bad_batches.push_back(std::move(batch));
  }
}

void TrainingHistory::take_rule(RuleFinding finding) {
  for (const auto& former : formers_) former->take_rule(finding);
  if (rules.size() < kMaxRules) rules.push_back(std::move(finding));
}

void TrainingHistory::forget_rules() {
  rules.clear();
  for (const auto& former : formers_) former->forget_rules();
}

constexpr std::size_t kEnough = 8, kSome = 3;  // full examinations

const TrainingHistory* TrainingHistory::best_former() const {
  const auto best = std::max_element(formers_.begin(), formers_.end(), [](const auto& one, const auto& other) {
    return one->snapshots.size() < other->snapshots.size();
  });
  return best == formers_.end() ? nullptr : best->get();
}

std::int64_t TrainingHistory::span() const {
  return losses.empty() ? 0 : losses.steps.back() - losses.steps.front();
}

const TrainingHistory* TrainingHistory::other_known() const {
  const TrainingHistory* other = &best_known() == this ? best_former() : this;
  return other != nullptr && other->snapshots.size() >= kSome ? other : nullptr;
}

bool TrainingHistory::is_well_known() const {
  return snapshots.size() >= kEnough;
}

const TrainingHistory& TrainingHistory::best_known() const {
  const TrainingHistory* const former = best_former();
  if (former == nullptr) return *this;
  // What has interrupted it matters less, as does a probe before it.
  constexpr std::int64_t kFarLonger = 5;
  const bool is_far_longer = span() >= kFarLonger * former->span();
  const std::size_t enough = was_resumed_ || is_far_longer ? kSome : kEnough;
  return snapshots.size() >= std::min(enough, former->snapshots.size()) ? *this : *former;
}

}  // namespace trainwarden::diagnosis
