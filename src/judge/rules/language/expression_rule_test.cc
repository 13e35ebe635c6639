#include "judge/rules/language/expression_rule.h"

#include <limits>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules::language {
namespace {

using Steps = std::vector<std::int64_t>;

constexpr float kRuleNan = std::numeric_limits<float>::quiet_NaN();

// The loss of one step after the other.
TestRun losses(const std::vector<float>& values) {
  TestRun run;
  for (std::size_t i = 0; i < values.size(); ++i) {
    run.add({.step = static_cast<std::int64_t>(i), .tensors = {scalar("loss", values[i], {"losses"})}});
  }
  return run;
}

Steps fires(const TestRun& run, std::string_view rule) {
  return steps_with(judge(run, rule), Outcome::kFired);
}

TEST(ExpressionRule, TheExampleOfTheGuide) {
  TestRun run;
  for (std::int64_t step = 0; step < 60; ++step) {
    const float exploding = step >= 55 ? 1000.0F : 1.0F + 0.01F * static_cast<float>(step % 3);
    run.add({.step = step, .tensors = {reduced("gradient/a", {1, 1}), reduced("gradient/b", {exploding, 0})}});
  }
  const auto verdicts = judge(run, "l2(gradient/*) > 100 * median(l2(gradient/*), 50 steps) for 3 steps");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{57, 58, 59}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData).size(), 50U);
  const Verdict& verdict = verdicts.at(57);
  ASSERT_EQ(verdict.evidence.size(), 1U);
  EXPECT_EQ(verdict.evidence[0].tensor, "gradient/b");
  EXPECT_EQ(verdict.evidence[0].quantity, "l2(gradient/*)");
  EXPECT_EQ(verdict.evidence[0].value, 1000);
  EXPECT_NEAR(verdict.evidence[0].threshold, 101, 1e-4);
  EXPECT_EQ(
      verdict.message,
      "\"gradient/b\" meets l2(gradient/*) > 100 * median(l2(gradient/*), 50 steps) at step 57: l2(gradient/*) is "
      "1000, against 101; for 3 steps in a row.");
}

TEST(ExpressionRule, EveryReading) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {reduced("x", {-3, 0, 0, 4}), reduced("bad", {kRuleNan, -1.0F / 0.0F, 1.0F / 0.0F, 0}),
                       scalar("loss", 2.5F), reduced("one", {7})}});
  for (const char* text : {
           "mean(x) == 0.25",
           "min(x) == -3",
           "max(x) == 4",
           "sum(x) == 1",
           "l1(x) == 7",
           "l2(x) == 5",
           "abs(std(x) - sqrt(var(x))) < 1e-9",
           "abs(var(x) - 6.1875) < 1e-6",
           "abs_mean(x) == 1.75",
           "abs_min(x) == 0",
           "abs_max(x) == 4",
           "abs_var(x) > 3",
           "abs_std(x) > 1.7",
           "zero_count(x) == 2",
           "zero_fraction(x) == 0.5",
           "size(x) == 4",
           "nan_count(bad) == 1",
           "inf_count(bad) == 2",
           "value(loss) == 2.5",
           "value(one) == 7",
           "is_nan(mean(bad))",
           "not is_finite(l2(bad))",
           "log(size(x)) > 1.38",
           "min(l2(x), 2) == 2",
           "max(l2(x), 2) == 5",
           "-l2(x) < -4.9",
           "step == 0 and l2(x) > 0",
           "size(x) / 0 > 1e308",
       }) {
    EXPECT_EQ(fires(run, text), (Steps{0})) << text;
  }
}

TEST(ExpressionRule, ComparisonsAtTheirLimits) {
  const TestRun run = losses({1, 2, 3});
  EXPECT_EQ(fires(run, "value(loss) < 2"), (Steps{0}));
  EXPECT_EQ(fires(run, "value(loss) <= 2"), (Steps{0, 1}));
  EXPECT_EQ(fires(run, "value(loss) > 2"), (Steps{2}));
  EXPECT_EQ(fires(run, "value(loss) >= 2"), (Steps{1, 2}));
  EXPECT_EQ(fires(run, "value(loss) == 2"), (Steps{1}));
  EXPECT_EQ(fires(run, "value(loss) != 2"), (Steps{0, 2}));
}

TEST(ExpressionRule, AComparisonWithNanIsFalse) {
  const TestRun run = losses({kRuleNan});
  for (const char* sign : {"<", "<=", ">", ">=", "==", "!="}) {
    EXPECT_TRUE(fires(run, std::string("value(loss) ") + sign + " 1").empty()) << sign;
    EXPECT_EQ(fires(run, std::string("not value(loss) ") + sign + " 1"), (Steps{0})) << sign;
  }
  EXPECT_EQ(fires(run, "is_nan(value(loss))"), (Steps{0}));
  EXPECT_EQ(fires(run, "is_nan(max(value(loss), 1))"), (Steps{0}));
}

// A window is full with its last number, and does not hold the step that is judged.
TEST(ExpressionRule, WindowsAreOfTheStepsBefore) {
  const TestRun run = losses({1, 2, 3, 9, 4});
  EXPECT_EQ(fires(run, "value(loss) > 2 * max(value(loss), 3 steps)"), (Steps{3}));
  EXPECT_EQ(steps_with(judge(run, "value(loss) > max(value(loss), 3 steps)"), Outcome::kInsufficientData),
            (Steps{0, 1, 2}));
  EXPECT_EQ(fires(run, "value(loss) < previous(value(loss))"), (Steps{4}));
  EXPECT_EQ(fires(run, "lag(value(loss), 2 steps) == 2"), (Steps{3}));
  EXPECT_EQ(fires(run, "change(value(loss), 2 steps) == 7"), (Steps{3}));
  EXPECT_EQ(fires(run, "value(loss) > 3 * first(value(loss))"), (Steps{3, 4}));
}

TEST(ExpressionRule, ANanLossDoesNotSpoilTheWindowsBehindIt) {
  const TestRun run = losses({1, kRuleNan, 1, 5});
  EXPECT_EQ(fires(run, "value(loss) > 4 * mean(value(loss), 3 steps)"), (Steps{3}));
}

TEST(ExpressionRule, ForStepsStartsAnewWhenTheConditionEnds) {
  const TestRun run = losses({5, 5, 1, 5, 5, 5, 5});
  EXPECT_EQ(fires(run, "value(loss) > 2 for 3 steps"), (Steps{5, 6}));
}

// As a guard asks: before the optimizer steps, and again when the step ends.
TEST(ExpressionRule, AStepThatIsLookedAtTwiceCountsOnce) {
  const TestRun run = losses({1, 2, 4, 8, 16, 32});
  const auto spec = parse_rule_spec("value(loss) > 1.5 * lag(value(loss), 1 step) for 3 steps");
  const auto rule = create_rule(*spec);
  ASSERT_TRUE(rule.ok());
  const auto trial = run.open();
  Steps fired;
  for (const std::int64_t step : trial->steps()) {
    const Outcome first = (*rule)->evaluate(TrialWindow(*trial, step)).outcome;
    EXPECT_EQ((*rule)->evaluate(TrialWindow(*trial, step)).outcome, first) << step;
    if (first == Outcome::kFired) fired.push_back(step);
  }
  EXPECT_EQ(fired, (Steps{3, 4, 5}));
}

// The loss is there before the weights are.
TEST(ExpressionRule, AWindowTakesEachStepOnce) {
  TestRun early = losses({1, 2, 4});
  TestRun late;
  for (std::int64_t step = 0; step < 3; ++step) {
    const auto loss = static_cast<float>(1 << step);
    late.add({.step = step, .tensors = {scalar("loss", loss), scalar("limit", 0)}});
  }
  const auto rule = create_expression_rule("previous(value(loss)) == 2 and value(limit) == 0");
  ASSERT_TRUE(rule.ok());
  const auto early_trial = early.open();
  const auto late_trial = late.open();
  for (std::int64_t step = 0; step < 3; ++step) {
    (void)(*rule)->evaluate(TrialWindow(*early_trial, step));
    const Outcome outcome = (*rule)->evaluate(TrialWindow(*late_trial, step)).outcome;
    EXPECT_EQ(outcome == Outcome::kFired, step == 2) << step;
  }
}

TEST(ExpressionRule, EveryAndModes) {
  TestRun run;
  for (std::int64_t step = 0; step < 8; ++step) {
    const Mode mode = step % 2 == 0 ? Mode::kTrain : Mode::kEval;
    run.add({.step = step, .tensors = {scalar("loss", 5)}, .mode = mode, .mode_step = step / 2});
  }
  EXPECT_EQ(fires(run, "value(loss) > 2 in eval"), (Steps{1, 3, 5, 7}));
  EXPECT_EQ(fires(run, "value(loss) > 2 in train every 2 steps"), (Steps{0, 4}));
  EXPECT_EQ(judge(run, "value(loss) > 2 in eval").at(0).outcome, Outcome::kNotApplicable);
}

TEST(ExpressionRule, FiresPerTensorTheWorstFirst) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {reduced("gradient/a", {5}), reduced("gradient/b", {50}), reduced("gradient/c", {1}),
                       reduced("weight/a", {1000})}});
  const Verdict verdict = judge(run, "l2(gradient/*) > 3 as error").at(0);
  EXPECT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.severity, Severity::kError);
  ASSERT_EQ(verdict.evidence.size(), 2U);
  EXPECT_EQ(verdict.evidence[0].tensor, "gradient/b");
  EXPECT_EQ(verdict.evidence[1].tensor, "gradient/a");
}

TEST(ExpressionRule, VariablesBindWhatBelongsTogether) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {reduced("gradient/a", {5}), reduced("gradient/b", {5}), reduced("gradient/lonely", {5}),
                       reduced("a", {1}), reduced("b", {100})}});
  const Verdict verdict = judge(run, "l2(gradient/{p}) / l2({p}) > 1").at(0);
  ASSERT_EQ(verdict.evidence.size(), 1U);
  EXPECT_EQ(verdict.evidence[0].tensor, "gradient/a");
  EXPECT_EQ(verdict.evidence[0].value, 5);
}

TEST(ExpressionRule, OverTensors) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {reduced("g/a", {1}), reduced("g/b", {2}), reduced("g/c", {9}), reduced("g/d", {kRuleNan})}});
  for (const char* text :
       {"max_over(l2(g/*)) == 9", "min_over(l2(g/*)) == 1", "mean_over(l2(g/*)) == 4", "median_over(l2(g/*)) == 2",
        "sum_over(l2(g/*)) == 12", "count(l2(g/*) > 1) == 2", "share(l2(g/*) > 1) == 0.5", "any(l2(g/*) > 8)",
        "all(size(g/*) == 1)", "not all(l2(g/*) > 1)", "count(is_nan(l2(g/*))) == 1",
        "l2(g/*) > 2 * median_over(l2(g/*))"}) {
    EXPECT_EQ(fires(run, text), (Steps{0})) << text;
  }
  EXPECT_EQ(judge(run, "max_over(l2(g/*)) > 3").at(0).evidence[0].tensor, "g/c");
  EXPECT_EQ(judge(run, "l2(g/*) > 2 * median_over(l2(g/*))").at(0).evidence[0].tensor, "g/c");
}

TEST(ExpressionRule, WindowsOverWhatGoesOverTensors) {
  TestRun run;
  for (std::int64_t step = 0; step < 5; ++step) {
    const float norm = step == 4 ? 10.0F : 1.0F;
    run.add({.step = step, .tensors = {reduced("g/a", {norm}), reduced("g/b", {0.5F})}});
  }
  EXPECT_EQ(fires(run, "max_over(l2(g/*)) > 5 * median(max_over(l2(g/*)), 3 steps)"), (Steps{4}));
  EXPECT_EQ(fires(run, "max_over(change(l2(g/*), 1 step)) > 1"), (Steps{4}));
}

TEST(ExpressionRule, WorkersByThemselvesOrOne) {
  TestRun run(2);
  run.add({.step = 0, .tensors = {scalar("loss", 1), scalar("limit", 2)}, .worker = 0});
  run.add({.step = 0, .tensors = {scalar("loss", 5), scalar("limit", 2)}, .worker = 1});
  const Verdict verdict = judge(run, "value(loss) > value(limit)").at(0);
  ASSERT_EQ(verdict.evidence.size(), 1U);
  EXPECT_EQ(verdict.evidence[0].worker, "rank-00001");
  EXPECT_TRUE(fires(run, "value(loss) > 2 at rank 0").empty());
  EXPECT_EQ(fires(run, "value(loss) > 2 at rank 1"), (Steps{0}));
  EXPECT_EQ(judge(run, "value(loss) > 2 at rank 7").at(0).outcome, Outcome::kNotApplicable);
}

TEST(ExpressionRule, NothingCapturedIsNotApplicable) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {shape_only("x", {1, 2}), strings("s", {"a"}),
                       single_reductions("r", {{Reduction::kL2, false, 4}})}});
  for (const char* text : {"l2(y) > 1", "l2(@weights) > 1", "l2(x) > 1", "value(s) > 1", "mean(r) > 1", "value(r) > 1",
                           "max_over(l2(y)) > 1", "l2(r) > l2(y)", "not l2(y) > 1"}) {
    EXPECT_EQ(judge(run, text).at(0).outcome, Outcome::kNotApplicable) << text;
  }
  EXPECT_EQ(fires(run, "l2(r) > 3"), (Steps{0}));
}

TEST(ExpressionRule, ValueOfATensorOfSeveralElementsSaysSo) {
  TestRun run;
  run.add({.step = 0, .tensors = {reduced("x", {1, 2})}});
  EXPECT_NE(judge(run, "value(x) > 1").at(0).message.find("has 2 elements"), std::string::npos);
}

TEST(ExpressionRule, NeedsStatisticsOfWhatItReads) {
  const auto rule =
      create_expression_rule("l2(@weights:a*) > l2(@weights:b) and value(loss) > 1 in train every 5 steps");
  ASSERT_TRUE(rule.ok()) << rule.status().message();
  const std::vector<Collection> needs = (*rule)->needs();
  ASSERT_EQ(needs.size(), 2U);
  EXPECT_EQ(needs[0].name, "weights");
  EXPECT_EQ(needs[1].name, "rule:loss");
  EXPECT_TRUE(needs[1].save->filled_from({})[Mode::kTrain]->wants(10));
  EXPECT_FALSE(needs[1].save->filled_from({})[Mode::kTrain]->wants(11));
  EXPECT_FALSE(needs[1].save->filled_from({})[Mode::kEval]->wants(10));
}

TEST(ExpressionRule, AsARuleSpec) {
  const auto spec = parse_rule_spec("  Spike: value(loss) > 3 ");
  ASSERT_TRUE(spec.ok()) << spec.status().message();
  EXPECT_EQ(spec->name, "Spike");
  EXPECT_EQ(spec->parameters, (RuleParameters{{"expression", "Spike: value(loss) > 3"}}));
  EXPECT_TRUE(create_rule(*spec).ok());
  EXPECT_EQ(parse_rule_spec("l2(a:b=c) > 3")->name, "Expression");
  EXPECT_EQ(parse_rule_spec("Equal: value(loss) == 3")->name, "Equal");
}

// What is meant as NAME:param=value is answered as such.
TEST(ExpressionRule, OtherSpecsAreNotTakenForExpressions) {
  for (const char* text : {"VanishingGradient", "vanishing_gradiant", "ExplodingTensor:tensor_regex=(?<a>x)",
                           "A:b=c(d)", "A:b=x>3", "", "A", "A:b"}) {
    EXPECT_FALSE(reads_like_expression(text)) << text;
  }
  for (const char* text : {"l2(x) > 3", "loss > 3", "a: b == 3", "loss == 3", "x: is_nan(l2(y))"}) {
    EXPECT_TRUE(reads_like_expression(text)) << text;
  }
  for (const char* text :
       {"VanishingGradient(threshold=1)", "vanishing-gradient threshold>3", "VanishingGradient:l2(x)>3"}) {
    const std::string message = parse_rule_spec(text).status().message();
    EXPECT_NE(message.find("anishing"), std::string::npos) << message;
    EXPECT_EQ(message.find("column"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace trainwarden::rules::language
