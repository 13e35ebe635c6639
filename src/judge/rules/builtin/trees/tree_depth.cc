// TreeDepth: trees that grow deeper than they should.
//
// Source: the documented rule of SageMaker Debugger, "the base-2 logarithm of the largest node id". XGBoost numbers the
// root 0 and the children of i as 2i + 1 and 2i + 2 in a tree that is full, so the depth of a node is
// floor(log2(id + 1)). In a tree that is not full ids may be smaller than that, and the depth is then a lower bound.
// Ours: where the depths of the nodes were captured themselves, they are taken. No state.
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "judge/rules/builtin/trees/trees_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace tree_depth_rule {
namespace {

constexpr const char* kNodes = "^trees/Node$";    // the node ids of all trees
constexpr const char* kDepths = "^trees/Depth$";  // how deep each of these nodes lies
constexpr double kMostDepth = 1e6;
constexpr const char* kAdvice =
    "Lower max_depth, or raise min_child_weight or gamma, and compare the validation error: deep trees learn the "
    "training set by heart.";

TensorSelection selected(std::vector<std::string> patterns) {
  TensorSelection selection;
  selection.patterns = std::move(patterns);
  return selection;
}

class TreeDepth final : public Rule {
 public:
  explicit TreeDepth(double depth) : depth_(depth) {}

  Verdict evaluate(const StepWindow& window) override {
    Found found;
    const JudgingGaps of_depths = judge(
        {kDepths}, [](double depth) { return depth; }, window, found);
    const auto of_node = [](double id) { return std::floor(std::log2(id + 1)); };
    const JudgingGaps of_nodes = judge({kNodes}, of_node, window, found);
    if (found.workers.empty()) return nothing_to_judge(of_nodes, "tree", window);
    if (found.evidence.empty()) return Verdict::ok();
    const Evidence& first = found.evidence.front();
    const bool is_known = first.tensor.ends_with("Depth");
    std::string text =
        fmt::format("A tree is {}{:g} levels deep at {}, by the largest {} in \"{}\"; the limit is {:g}.",
                    is_known ? "" : "at least ", first.value, describe_step(window), is_known ? "depth" : "id",
                    first.tensor, depth_);
    return fired(std::move(text), kAdvice, std::move(found.evidence));
  }

  // Every tenth step is the interval of smdebug's hook for XGBoost, whose trees are never taken back.
  std::vector<Collection> needs() const override {
    return needs_of(selected({kDepths, kNodes}), "tree_depth", KeepForm::reduced(), 10);
  }

 private:
  struct Found {
    std::vector<Evidence> evidence;
    std::set<std::string> workers;  // whose trees were judged
  };

  // By the largest number of the tensor, of workers that were not judged before.
  JudgingGaps judge(std::vector<std::string> patterns, double (*depth_of)(double), const StepWindow& window,
                    Found& found) const {
    return visit_tensors(selected(std::move(patterns)), window, [&](const TensorSpot& spot) -> Status {
      if (found.workers.contains(spot.worker)) return Status();
      TRAINWARDEN_ASSIGN_OR_RETURN(const double largest, window.reduction(spot, Reduction::kMax));
      if (!(largest >= 0) || std::isinf(largest)) {
        return Status(Code::kInvalidArgument,
                      fmt::format("\"{}\" holds no numbers of nodes: its largest is {}", spot.tensor, largest));
      }
      found.workers.insert(spot.worker);
      const double depth = depth_of(largest);
      if (depth > depth_) {
        found.evidence.push_back({spot.tensor, spot.shown_worker, "tree_depth", depth, depth_, window.global_step()});
      }
      return Status();
    });
  }

  const double depth_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double depth = read.number("depth", 0, kMostDepth);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new TreeDepth(depth));
}

constexpr const char* kDetails = R"(Takes the largest depth of a node in all trees of the step, `trees/Depth`, and fires
when it is more than `depth`. In a run that has no depths, as smdebug's hook for XGBoost leaves it, it takes the largest
node id, `trees/Node`: floor(log2(id + 1)) is the depth of that node where the children of node i are 2i + 1 and 2i + 2.
XGBoost numbers them so in full trees; a tree that is not full may be deeper than its ids show.

Statistics of the tensor do. Not among the default rules: how deep is too deep is the program's own. Evidence:
`tree_depth`.)";

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
