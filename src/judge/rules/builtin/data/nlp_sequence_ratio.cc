// NLPSequenceRatio: a token, as a rule the padding, makes up too much of the sequences.
//
// Source: the documented rule of SageMaker Debugger. Ours: besides the documented pattern, which is MXNet's name of an
// embedding's input, the collection `embedding_inputs` is taken; each tensor of each worker is judged by itself at each
// step; a share equal to its threshold does not fire. No state.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/data/data_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/tensor_elements.h"

namespace trainwarden::rules {
namespace nlp_sequence_ratio_rule {
namespace {

constexpr std::int64_t kTokenInterval = 10;
constexpr const char* kAdvice =
    "Put sequences of similar length into a batch, or cut the longest, and see that a step takes less time for the "
    "same number of real tokens.";

struct Token {
  double value = 0;
  double limit_percent = 0;
};

class NLPSequenceRatio final : public Rule {
 public:
  NLPSequenceRatio(TensorSelection selection, std::vector<Token> tokens)
      : selection_(std::move(selection)), tokens_(std::move(tokens)) {}

  Verdict evaluate(const StepWindow& window) override {
    std::vector<Evidence> found;
    std::size_t judged = 0;
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue value, window.value(spot));
      if (component_count(value.view) == 0) return Status(Code::kInvalidArgument, "it has no numbers");
      ++judged;
      judge(spot, components_of(value.view), window, found);
      return Status();
    });
    if (judged == 0) return nothing_to_judge(gaps, "sequence", window);
    if (found.empty()) return Verdict::ok();
    std::stable_sort(found.begin(), found.end(), [](const Evidence& a, const Evidence& b) {
      return a.value - a.threshold > b.value - b.threshold;
    });
    const Evidence& worst = found.front();
    std::string text = fmt::format("{} of \"{}\" is {:.3g} at {}; {:g} % are put up with.", worst.quantity,
                                   worst.tensor, worst.value, describe_step(window), worst.threshold);
    return fired(std::move(text), kAdvice, std::move(found));
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "nlp_sequence_ratio", KeepForm::whole(), kTokenInterval);
  }

 private:
  void judge(const TensorSpot& spot, const std::vector<double>& sequence, const StepWindow& window,
             std::vector<Evidence>& found) const {
    for (const Token& token : tokens_) {
      const auto count = std::count(sequence.begin(), sequence.end(), token.value);
      const double percent = 100 * static_cast<double>(count) / static_cast<double>(sequence.size());
      if (!(percent > token.limit_percent)) continue;
      found.push_back({spot.tensor, spot.shown_worker, fmt::format("percent_of_token_{:g}", token.value), percent,
                       token.limit_percent, window.global_step()});
    }
  }

  const TensorSelection selection_;
  const std::vector<Token> tokens_;
};

Result<std::vector<double>> numbers(const RuleParameters& parameters, const std::string& name,
                                    const std::vector<std::string>& parts) {
  std::vector<double> numbers;
  for (const std::string& part : parts) {
    const auto number = parse_double(part);
    if (!number || !std::isfinite(*number)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("parameter {}: expected numbers separated by commas, found \"{}\"", name,
                                printable(parameters.at(name))));
    }
    numbers.push_back(*number);
  }
  return numbers;
}

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = {"embedding_inputs"};
  selection.patterns = read.patterns("tensor_regex");
  const char* const values_name = "token_values";
  const char* const limits_name = "token_thresholds_percent";
  const auto value_parts = read.list(values_name);
  const auto limit_parts = read.list(limits_name);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto values, numbers(parameters, values_name, value_parts));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto limits, numbers(parameters, limits_name, limit_parts));
  if (values.size() != limits.size() || values.empty()) {
    return Status(Code::kInvalidArgument, fmt::format("expected as many {} as {}, and at least one, found {} and {}",
                                                      limits_name, values_name, limits.size(), values.size()));
  }
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < values.size(); ++i) tokens.push_back({values[i], limits[i]});
  return std::unique_ptr<Rule>(new NLPSequenceRatio(std::move(selection), std::move(tokens)));
}

constexpr const char* kDetails = R"(Looks at what goes into embeddings (collection `embedding_inputs`, and what
`tensor_regex` matches) and fires when a token of `token_values` makes up more than its part of
`token_thresholds_percent` of all tokens of the tensor at the step. The two lists belong together, the first to the
first. With the defaults: when more than half of the tokens are 0, which many vocabularies use as padding.

Needs whole values of `embedding_inputs`. Not among the default rules: what 0 means, and how much padding is too
much, is the program's own. Evidence: `percent_of_token_T`.)";

}  // namespace
}  // namespace nlp_sequence_ratio_rule

RuleKind nlp_sequence_ratio() {
  RuleDescription description;
  description.name = "NLPSequenceRatio";
  description.summary = "Fires when a token, such as the padding, makes up too much of the sequences.";
  description.parameters = {{"tensor_regex", ".*embedding0_input_0",
                             "patterns of tensors with sequences, besides the collection embedding_inputs"},
                            {"token_values", "0", "tokens that are counted, separated by commas"},
                            {"token_thresholds_percent", "50", "for each of them the percentage that is put up with"}};
  description.topic = "data";
  description.details = nlp_sequence_ratio_rule::kDetails;
  description.source = "SageMaker Debugger's documentation";
  return {std::move(description), nlp_sequence_ratio_rule::create};
}

}  // namespace trainwarden::rules
