// CreateXgboostReport: the documented name. The report itself is made of the run, by the Python package.
//
// Source: SageMaker Debugger, where it writes a report at the end of an XGBoost training. It has no parameters and
// never fires. Here it keeps what the report is made of.
#include "judge/rules/builtin/trees/trees_rules.h"
#include "judge/rules/needs.h"

namespace trainwarden::rules {
namespace create_xgboost_report_rule {
namespace {

constexpr std::int64_t kDocumentedInterval = 5;

class CreateXgboostReport final : public Rule {
 public:
  Verdict evaluate(const StepWindow&) override {
    return Verdict::not_applicable(
        "what the report is made of is kept; python -m trainwarden.xgboost.report RUN writes it");
  }

  std::vector<Collection> needs() const override {
    std::vector<Collection> needs = {need_values("metrics", kDocumentedInterval),
                                     need_values("feature_importance", kDocumentedInterval),
                                     need_values("hyperparameters"), need_values("predictions", kDocumentedInterval),
                                     need_values("labels", kDocumentedInterval)};
    needs[0].include = {"^[A-Za-z]+-[A-Za-z0-9]+$"};  // train-rmse
    needs[1].include = {"^feature_importance/"};
    needs[2].include = {"^hyperparameters/"};
    SaveSchedule once;
    once.end_step = 0;
    once.save_steps = {0};
    needs[2].save = SavePolicy::of(once);
    return needs;
  }
};

Result<std::unique_ptr<Rule>> create(const RuleParameters&) {
  return std::unique_ptr<Rule>(new CreateXgboostReport());
}

constexpr const char* kDetails =
    R"(Answers "not applicable" at every step. It asks for the collections that the report is made of (`metrics`,
`feature_importance`, `predictions`, `labels` at every fifth step, `hyperparameters` at the first);
`python -m trainwarden.xgboost.report RUN` writes it, while the training runs or later.)";

}  // namespace
}  // namespace create_xgboost_report_rule

RuleKind create_xgboost_report() {
  RuleDescription description;
  description.name = "CreateXgboostReport";
  description.summary = "Fires never; keeps what the report of a training of boosted trees is made of.";
  description.topic = "trees";
  description.details = create_xgboost_report_rule::kDetails;
  description.source = "SageMaker Debugger's documentation";
  return {std::move(description), create_xgboost_report_rule::create};
}

}  // namespace trainwarden::rules
