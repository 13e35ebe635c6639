// What an evaluation gets, against what the training gets; and what happens to the weights in between.
#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

// A classifier with 95 % of its answers right in training, and so many in evaluation, of inputs with these features.
Diagnosis evaluated_with(Values training_features, const Values& evaluation_features, double accuracy,
                         bool are_numbers) {
  TrainingUnderTest training;
  const double columns = static_cast<double>(training_features.size()) / 2;
  training.numbers = {{"features", std::move(training_features)},
                      {"float_inputs", {are_numbers ? 1.0 : 0.0}},
                      {"input_shape", {16, columns}}};
  TrainingHistory history = training.history();
  for (const double step : {60.0, 120.0, 180.0}) {
    take_record(history,
                {{"step", {step}},
                 {"eval_after", {step}},
                 {"eval_calls", {4}},
                 {"eval_accuracy", {accuracy}},
                 {"eval_input_shape", {100, columns}},
                 {"eval_features", evaluation_features}},
                static_cast<std::int64_t>(step));
  }
  return diagnose(history);
}

TEST(EvaluationInputs, FeaturesThatLieElsewhere) {
  const Values trained = {0, 0.1, -0.1, 5, /* spreads */ 1, 1, 1, 2};
  const auto cause = [&](const Values& evaluated, double accuracy) {
    return first_cause(evaluated_with(trained, evaluated, accuracy, true));
  };
  EXPECT_EQ(cause({2, 2.1, -0.1, 5, 1, 1, 1, 2}, 0.5), "evaluation_preprocessing");        // half of them are shifted
  EXPECT_EQ(cause({0, 0.1, -0.1, 5, 0.1, 0.1, 0.1, 2}, 0.5), "evaluation_preprocessing");  // or have another spread
  EXPECT_NE(cause({0.2, 0.3, -0.2, 5.5, 1, 1.2, 0.9, 2}, 0.5), "evaluation_preprocessing");
  EXPECT_NE(cause({2, 2.1, -0.1, 5, 1, 1, 1, 2}, 0.93), "evaluation_preprocessing");  // it does no harm
}

TEST(EvaluationInputs, TokensOfAnotherVocabulary) {
  const Values trained = {0.4, 0.3, 0.2, 0.1, 0, 0, 0, 0};
  const auto cause = [&](const Values& evaluated) {
    return first_cause(evaluated_with(trained, evaluated, 0.5, false));
  };
  EXPECT_EQ(cause({0, 0, 0.1, 0.1, 0.3, 0.3, 0.1, 0.1}), "evaluation_preprocessing");
  EXPECT_NE(cause({0.35, 0.3, 0.2, 0.15, 0, 0, 0, 0}), "evaluation_preprocessing");
}

TEST(Generalisation, AnEvaluationThatHasComeDownAgain) {
  const auto alarms = [](std::vector<double> losses) {
    TrainingUnderTest training;
    training.loss_at_end = 0.02;
    TrainingHistory history = training.history();
    double step = 0;
    for (const double loss : losses) {
      step += 40;
      take_record(
          history,
          {{"step", {step}}, {"eval_after", {step}}, {"eval_calls", {1}}, {"eval_loss", {loss}}, {"eval_losses", {1}}},
          static_cast<std::int64_t>(step));
    }
    return confidence_of(diagnose(history), "overfitting") > 0.5;
  };
  EXPECT_TRUE(alarms({0.4, 0.5, 0.8, 1.2, 1.5}));
  EXPECT_FALSE(alarms({0.4, 3.5, 2.1, 1.7, 1.5}));
}

TEST(EvaluationInputs, WeightsThatAreOthersAfterAnEvaluation) {
  const auto confidence = [](Values outside) {
    return confidence_with({{"outside", std::move(outside)}}, "weights_changed_outside_step");
  };
  // Of 40 records of one evaluation each.
  EXPECT_GT(confidence({1, 10, 1, 1}), 0.8);
  EXPECT_EQ(confidence({0, 10, 0, 1}), 0);    // what was put in was taken out again
  EXPECT_LT(confidence({2, 10, 1, 1}), 0.8);  // elsewhere, too
}

// Of 8 places, with a softmax over this axis of [samples, heads, queries, keys].
TEST(Axes, AnAttentionWhoseWeightsSumToOneOverTheHeads) {
  const auto cause = [](int axis, int keys) {
    return cause_of_graph(fmt::format(
        R"([["Bmm",[1,5],{{}}],["View",[2],{{"sizes":[64,8,8]}}],["Mul",[3],{{}}],["Softmax",[4],{{"dim":{},"axes":4,"queries":8,"keys":{}}}],)"
        R"(["leaf",[],{{}}],["leaf",[],{{}}]])",
        axis, keys));
  };
  EXPECT_EQ(cause(1, 8), "softmax_dimension");
  EXPECT_EQ(cause(3, 8), "");
  EXPECT_EQ(cause(1, 5), "");  // capsules, perhaps
}

TEST(Loss, ASigmoidInAnErrorOfOnesOwnBesideOtherTerms) {
  const auto cause = [](double low, double high) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.compared =
        R"({"function":"mse_loss","predicted":[16,4],"target":[16,4],"predicted_dtype":"float32","target_dtype":"float32"})";
    training.graph = R"([["Add",[1,2],{}],["Div",[3],{"factor":1}],["leaf",[],{}],["Sum",[4],{"sizes":[16,4]}],)"
                     R"(["Pow",[5],{"exponent":2}],["Sub",[6],{}],["Sigmoid",[7],{}],["leaf",[],{}]])";
    training.numbers = {{"target", {0.1, 1, low, high, 0, 0}}};
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause(-0.8, 2), "output_activation");
  EXPECT_EQ(cause(0, 1), "");
}

TEST(Collapse, ADivergenceThatOutweighsTheReconstruction) {
  const auto collapses = [](double rest, double late) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.compared =
        R"({"function":"mse_loss","predicted":[16,4],"target":[16,4],"predicted_dtype":"float32","target_dtype":"float32"})";
    training.graph =
        R"([["Add",[1,2],{}],["MseLoss",[3],{"reduction":1}],["Sum",[3],{"sizes":[16]}],["Exp",[4],{}],["leaf",[],{}]])";
    training.loss_at_start = 0.8;
    training.loss_at_end = late + rest;
    training.compared_at_end = late;
    training.numbers = {{"target_is_input", {1}}, {"target_mean", {0, 0, 0, 0}}, {"target_square", {1, 1, 1, 1}}};
    return is_told(training.diagnosis(), "posterior_collapse");
  };
  EXPECT_TRUE(collapses(0, 0.8));
  EXPECT_FALSE(collapses(2, 0.8));   // the code says something
  EXPECT_FALSE(collapses(0, 0.05));  // and what is reconstructed is like what it is to be
}

TEST(Inputs, OfAnyScaleBeforeABatchNorm) {
  const auto cause = [](const char* first) {
    TrainingUnderTest training;
    training.modules =
        fmt::format(R"({{"name":"0","kind":"{}","leaf":true}},{{"name":"2","kind":"Linear","leaf":true}})", first);
    training.loss_at_end = 0.6;
    training.numbers = {{"input", {400, 2600, 0, 1e5, 0.1, 0}}, {"input_scales", {300, 0.1}}, {"input_shape", {16, 4}}};
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause("Linear"), "input_scale");
  EXPECT_EQ(cause("BatchNorm1d"), "");
}

TEST(Wiring, WhatTheLastOfSeveralBlocksGivesToNoNextOne) {
  const auto cause = [](int cut) {  // 12 blocks, of which one gets no gradient
    TrainingUnderTest training;
    training.parameters.clear();
    training.modules.clear();
    for (int i = 0; i < 12; ++i) {
      const char* const comma = i == 0 ? "" : ",";
      training.parameters += fmt::format(
          R"({}{{"name":"blocks.{}.weight","shape":[8,8],"dtype":"float32","trainable":true,"optimizers":[0]}})", comma,
          i);
      training.modules += fmt::format(R"({}{{"name":"blocks.{}","kind":"Linear","leaf":true}})", comma, i);
    }
    training.gradient = Values(12, 0.1);
    training.gradient[static_cast<std::size_t>(cut)] = -1;
    TrainingHistory history = training.history();
    history.structure.layers.clear();
    for (int i = 0; i < 12; ++i) history.structure.layers.push_back(fmt::format("blocks.{}", i));
    return confidence_of(diagnose(history), "graph_cut");
  };
  EXPECT_LT(cause(11), 0.5);
  EXPECT_GT(cause(4), 0.8);
}

TEST(Order, OfTheBeginningAloneIsACurriculum) {
  const auto cause = [](std::int64_t mixed_from) {
    TrainingUnderTest training;
    training.steps = 1;
    TrainingHistory history = training.history();
    for (std::int64_t step = 5; step < 200; step += 5) {
      const Values sorted = step < 100 ? Values{16, 0} : Values{0, 16};
      take_record(history,
                  {{"step", {static_cast<double>(step)}},
                   {"loss", {0.4}},
                   {"look_steps", {static_cast<double>(step)}},
                   {"looks", {0.4}},
                   {"labels", step < mixed_from ? sorted : Values{8, 8}}},
                  step);
    }
    return first_cause(diagnose(history));
  };
  EXPECT_EQ(cause(200), "data_not_shuffled");
  EXPECT_NE(cause(120), "data_not_shuffled");
}

}  // namespace
}  // namespace trainwarden::diagnosis
