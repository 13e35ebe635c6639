// Evaluator: an expression at one step after the other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "judge/rules/language/expression.h"
#include "judge/rules/language/step_series.h"
#include "judge/rules/step_statistics.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules::language {

// What is known of a number or condition at a step.
enum class Knowledge : std::uint8_t {
  kKnown,
  kWaiting,  // a window does not have its numbers yet
  kMissing,  // a tensor is not there, or not in a form that has it
};

struct NodeValue {
  Knowledge knowledge = Knowledge::kMissing;
  double number = 0;  // kKnown; of a condition 0 or 1
};

// The condition holds, and has for `for N steps`.
struct Finding {
  TensorSpot spot;       // "" when it is about no single tensor
  std::string quantity;  // what is compared, in the rule's own words
  double value = 0;
  double threshold = 0;
  std::int64_t steps_held = 1;
};

struct Judgement {
  std::vector<Finding> findings;  // in no order
  std::size_t judged = 0;         // tensors of which the condition is known
  std::size_t waiting = 0;        // tensors of which a window is not full
  JudgingGaps gaps;
  Status overflow;  // the state would grow past its bounds; nothing else counts then
};

// One thread at a time. Its state grows with the tensors that it meets, up to kMostSubjects and kMostWindowValues.
class Evaluator {
 public:
  explicit Evaluator(Expression expression);

  const Expression& expression() const { return expression_; }
  Judgement judge(const StepWindow& window);

 private:
  // A tensor that a scope is evaluated for.
  struct Subject {
    std::uint32_t id = 0;
    const TensorSpot* spot = nullptr;  // of the leader; null: it goes over no tensor
  };
  struct ScopeState {
    std::vector<int> nodes;  // in the order of evaluation; the last is its answer
    std::unordered_map<std::string, std::uint32_t> ids;
    std::vector<Subject> subjects;            // of this step
    std::vector<const TensorSpot*> partners;  // of this step: one for each subject and selector of the scope, or null
    NodeValue answer;                         // of this step, when it goes over tensors
    double held = 0;                          // for how many of them the condition holds
    TensorSpot witness;                       // the tensor that decided it
  };
  // A window of one subject. A step may be looked at twice, with the same answer: a guard does so before the optimizer
  // steps and when the step ends.
  struct Window {
    StepSeries series;
    std::int64_t step = -1;  // the last one that went in
    NodeValue answer = {};   // at that step
  };
  struct Streak {
    std::int64_t steps = 0;  // in a row at which the condition held
    std::int64_t last = -1;  // the last step that was judged
  };
  using Partners = std::unordered_map<std::string, const TensorSpot*>;

  void collect(std::size_t scope, const StepWindow& window);
  std::vector<const TensorSpot*> select(int selector, const StepWindow& window);
  Partners partners_of(int selector, const StepWindow& window);
  void add_subject(std::size_t scope, const TensorSpot* spot);
  std::string join_key(const Selector& selector, const TensorSpot& spot, bool by_variables) const;

  void evaluate_for(std::size_t scope, std::size_t subject, const StepWindow& window);
  void aggregate(const Node& node, const StepWindow& window);
  NodeValue answer(const Node& node, int index, std::size_t subject, const StepWindow& window);
  NodeValue read(const Node& node, std::size_t subject, const StepWindow& window);
  NodeValue window_answer(int index, std::uint32_t subject, std::int64_t step);
  NodeValue logic_answer(const Node& node) const;
  const NodeValue& child(const Node& node, int number) const;
  const Node& node_at(int index) const { return expression_.nodes[static_cast<std::size_t>(index)]; }

  void judge_subject(std::size_t subject, std::int64_t step);
  Finding finding(const Subject& subject, std::int64_t steps_held) const;
  const Node& deciding(const Node& node) const;
  const TensorSpot* witness(const Node& node) const;

  const Expression expression_;
  std::vector<ScopeState> scopes_;
  std::vector<NodeValue> answers_;            // of each node, for the last subject
  std::vector<std::vector<Window>> windows_;  // of each node that is one, by the subject's id
  std::vector<Streak> held_;                  // by the id of the whole rule's subject
  std::size_t window_values_ = 0;
  Judgement judgement_;
};

}  // namespace trainwarden::rules::language
