// TreeDepth: trees that grow deeper than they should.
//
// Source: the documented rule of SageMaker Debugger, "the base-2 logarithm of the largest node id". XGBoost numbers the
// root 0 and the children of i as 2i + 1 and 2i + 2 in a tree that is full, so the depth of a node is
// floor(log2(id + 1)). In a tree that is not full ids may be smaller than that, and the depth is then a lower bound.
// No state.
#include <cmath>

#include <fmt/format.h>

#include "judge/rules/builtin/trees/trees_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace tree_depth_rule {
namespace {

constexpr const char* kNodes = "^trees/Node$";  // the node ids of all trees
constexpr double kMostDepth = 1e6;
constexpr const char* kAdvice =
    "Lower max_depth, or raise min_child_weight or gamma, and compare the validation error: deep trees learn the "
    "training set by heart.";

TensorSelection nodes() {
  TensorSelection selection;
  selection.patterns = {kNodes};
  return selection;
}

class TreeDepth final : public Rule {
 public:
  explicit TreeDepth(double depth) : depth_(depth) {}

  Verdict evaluate(const StepWindow& window) override {
    std::vector<Evidence> found;
    std::size_t judged = 0;
    const JudgingGaps gaps = visit_tensors(nodes(), window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const double largest, window.reduction(spot, Reduction::kMax));
      if (!(largest >= 0) || std::isinf(largest)) {
        return Status(Code::kInvalidArgument,
                      fmt::format("\"{}\" holds no node ids: its largest is {}", spot.tensor, largest));
      }
      ++judged;
      const double depth = std::floor(std::log2(largest + 1));
      if (depth > depth_) {
        found.push_back({spot.tensor, spot.shown_worker, "tree_depth", depth, depth_, window.global_step()});
      }
      return Status();
    });
    if (judged == 0) return nothing_to_judge(gaps, "tree", window);
    if (found.empty()) return Verdict::ok();
    std::string text = fmt::format(
        "A tree is at least {:g} levels deep at {}, by the largest id in \"{}\"; the limit is "
        "{:g}.",
        found.front().value, describe_step(window), found.front().tensor, depth_);
    return fired(std::move(text), kAdvice, std::move(found));
  }

  // Every tenth step is the interval of smdebug's hook for XGBoost, whose trees are never taken back.
  std::vector<Collection> needs() const override { return needs_of(nodes(), "tree_depth", KeepForm::reduced(), 10); }

 private:
  const double depth_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double depth = read.number("depth", 0, kMostDepth);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new TreeDepth(depth));
}

constexpr const char* kDetails = R"(Takes the largest node id of all trees of the step and fires when
floor(log2(id + 1)), the depth of that node, is more than `depth`. XGBoost numbers the children of node i as 2i + 1 and
2i + 2 in full trees; a tree that is not full may be deeper than its ids show.

Needs the tensor `trees/Node`, of which statistics do, as smdebug's hook for XGBoost writes it. Not among the default
rules: how deep is too deep is the program's own. Evidence: `tree_depth`.)";

}  // namespace
}  // namespace tree_depth_rule

RuleKind tree_depth() {
  RuleDescription description;
  description.name = "TreeDepth";
  description.summary = "Fires when a tree of a boosted model is deeper than a limit.";
  description.parameters = {{"depth", "4", "the largest depth that is put up with; the root has depth 0"}};
  description.topic = "trees";
  description.details = tree_depth_rule::kDetails;
  description.source = "SageMaker Debugger's documentation";
  return {std::move(description), tree_depth_rule::create};
}

}  // namespace trainwarden::rules
