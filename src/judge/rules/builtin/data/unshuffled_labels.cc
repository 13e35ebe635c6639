// UnshuffledLabels: the samples come sorted by class.
//
// Source: the missing shuffle that beginners ask about (spec of the diagnosis research, 26): labels that follow each
// other are alike far more often than Σ p². How that is counted, and what is left out, is ours: label_order.h. Judged
// are class labels, one for each sample: whole numbers in a tensor of integers, or zeros and ones in one of floats
// (binary cross entropy). Labels of tokens or pixels, which rightly hang together, are more than the samples of the
// batch. State: for each loss of each worker the count of at most LabelOrder::kMostClasses classes and the last batch.
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/data/class_labels.h"
#include "judge/rules/builtin/data/data_rules.h"
#include "judge/rules/builtin/data/label_order.h"
#include "judge/rules/builtin/data/samples.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/tensor_elements.h"

namespace trainwarden::rules {
namespace unshuffled_labels_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::int64_t kMostLabels = 1'000'000;  // of one batch: more are pixels
constexpr const char* kAdvice =
    "Shuffle the training set (shuffle=True in the data loader, or a random permutation in each epoch), and see that "
    "the loss no longer jumps where the classes change.";

bool are_zeros_and_ones(const TensorView& labels) {
  bool binary = true;
  visit_components(labels, 0, component_count(labels),
                   [&](double value) { binary = binary && (value == 0 || value == 1); });
  return binary;
}

// "CrossEntropyLoss_input_" of "CrossEntropyLoss_input_1": the labels of one loss, over its calls.
std::string loss_of(const std::string& tensor) {
  return tensor.substr(0, tensor.find_last_not_of("0123456789") + 1);
}

Result<Classes> labels_of_samples(const TensorView& labels, std::optional<std::int64_t> samples) {
  const bool is_column = labels.shape.rank() == 1 || (labels.shape.rank() == 2 && labels.shape[1] == 1);
  const std::int64_t count = labels.shape.element_count();
  if (!is_column || count > samples.value_or(kMostLabels)) {
    return Status(Code::kInvalidArgument, fmt::format("expected one label for each sample, found labels of shape {}",
                                                      labels.shape.to_string()));
  }
  if (is_floating_point(labels.dtype) && !are_zeros_and_ones(labels)) {
    return Status(Code::kInvalidArgument, "expected class numbers, found other numbers, as in a regression");
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(Classes classes, label_classes(labels));
  std::erase(classes, kIgnoredLabel);
  return classes;
}

class UnshuffledLabels final : public Rule {
 public:
  UnshuffledLabels(double threshold, std::int64_t batches) : threshold_(threshold), batches_(batches) {}

  Verdict evaluate(const StepWindow& window) override {
    if (window.mode() != Mode::kTrain && window.mode() != Mode::kGlobal) {
      return Verdict::not_applicable(
          fmt::format("a {} step; only the labels of training are judged", name(window.mode())));
    }
    JudgingGaps gaps;
    const auto spots = choose({{}, labels()}, window);
    note_gap(spots.status(), gaps);
    if (!spots.ok()) return nothing_to_judge(gaps, "label", window);
    std::vector<Key> seen;
    for (const TensorSpot& spot : *spots) {
      const Status status = add(spot, window);
      note_gap(status, gaps);
      if (status.ok()) seen.push_back({loss_of(spot.tensor), spot.worker});
    }
    if (seen.empty()) return nothing_to_judge(gaps, "label of a sample", window);
    return judge(seen, spots->front(), window);
  }

  std::vector<Collection> needs() const override {
    return {need_values(kLabels, 1), need_signals(), need_batch_shapes(1)};
  }

 private:
  using Key = std::pair<std::string, std::string>;  // loss, worker

  static TensorSelection labels() {
    TensorSelection selection;
    selection.collections = {kLabels};
    return selection;
  }

  Status add(const TensorSpot& spot, const StepWindow& window) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue value, window.value(spot));
    TRAINWARDEN_ASSIGN_OR_RETURN(const Classes classes,
                                 labels_of_samples(value.view, sample_count(spot.worker, window)));
    orders_[{loss_of(spot.tensor), spot.worker}].add(classes);
    return Status();
  }

  Verdict judge(const std::vector<Key>& seen, const TensorSpot& shown, const StepWindow& window) {
    bool enough = false;
    for (const Key& key : seen) {
      const LabelOrder& order = orders_.at(key);
      if (order.batches() < batches_ || order.classes() < 2) continue;
      enough = true;
      if (order.is_ordered(threshold_)) return verdict(key, order, shown, window);
    }
    if (enough) return Verdict::ok();
    const LabelOrder& first = orders_.at(seen.front());
    return Verdict::insufficient_data(
        fmt::format("{} batches with {} classes by {}; {} batches and 2 classes are needed", first.batches(),
                    first.classes(), describe_step(window), batches_));
  }

  Verdict verdict(const Key& key, const LabelOrder& order, const TensorSpot& shown, const StepWindow& window) const {
    const std::string tensor = loss_of(shown.tensor) == key.first ? shown.tensor : key.first;
    const std::string& worker = shown.shown_worker.empty() ? shown.shown_worker : key.second;
    const double limit = order.chance() + threshold_ * (1 - order.chance());
    std::vector<Evidence> evidence = {
        {tensor, worker, "alike_across_batches", order.across(), limit, window.global_step()},
        {tensor, worker, "alike_within_batch", order.within(), limit, window.global_step()},
        {tensor, worker, "alike_by_chance", order.chance(), limit, window.global_step()}};
    return fired(
        fmt::format("The samples come sorted by class: by {}, {:.3g} % of the labels in \"{}\" are the same as the "
                    "one before, {:.3g} % also from batch to batch, where a random order gives {:.3g} %.",
                    describe_step(window), 100 * order.within(), tensor, 100 * order.across(), 100 * order.chance()),
        kAdvice, std::move(evidence));
  }

  const double threshold_;
  const std::int64_t batches_;
  std::map<Key, LabelOrder> orders_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double threshold = read.number("threshold", 0, 1);
  const std::int64_t batches = read.integer("batches", 2, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new UnshuffledLabels(threshold, batches));
}

constexpr const char* kDetails = R"(Counts over all training steps how often a label is the same as the one before
it, within batches and from the last of a batch to the first of the next. In random order both happen with the
chance s = sum of the squared shares of the classes. Fires when, after `batches` batches, both are above s +
`threshold` (1 - s), and by more than six standard deviations. The first class alone proves nothing: with long
classes it fires soon after the second has begun.

Needs whole labels of the collection `labels` at every step: integers, or zeros and ones. It takes no labels of eval
steps, no other numbers (regression), and no labels of which there are more than samples in the batch, such as
tokens and pixels. The whole data set as one batch, several samples of a class in each batch, and the two losses of
a GAN do not fire. Time series that are rightly in order may: leave the rule out there. Evidence:
`alike_across_batches`, `alike_within_batch`, `alike_by_chance`.)";

}  // namespace
}  // namespace unshuffled_labels_rule

RuleKind unshuffled_labels() {
  RuleDescription description;
  description.name = "UnshuffledLabels";
  description.summary = "Fires when the samples of the training come sorted by class.";
  description.parameters = {
      {"threshold", "0.5", "excess of alike neighbours over chance, from 0 (random order) to 1 (sorted)"},
      {"batches", "20", "batches that are counted before they are judged"}};
  description.topic = "data";
  description.details = unshuffled_labels_rule::kDetails;
  description.source = "ours";
  description.by_default = true;
  description.is_symptom = true;
  description.consequences = {"LossNotDecreasing", "LossSpike"};
  return {std::move(description), unshuffled_labels_rule::create};
}

}  // namespace trainwarden::rules
