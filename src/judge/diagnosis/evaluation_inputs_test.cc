// What an evaluation gets, against what the training gets; and what happens to the weights in between.
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

// A training, and three evaluations of inputs with these features, which have measured so much at a step.
Diagnosis with_evaluations(Values training_features, const Values& evaluation_features, bool are_numbers,
                           const std::function<Numbers(double)>& measured_at) {
  TrainingUnderTest training;
  const double columns = static_cast<double>(training_features.size()) / 2;
  training.numbers = {{"features", std::move(training_features)},
                      {"float_inputs", {are_numbers ? 1.0 : 0.0}},
                      {"input_shape", {16, columns}}};
  TrainingHistory history = training.history();
  for (const double step : {60.0, 120.0, 180.0}) {
    Numbers record = {{"step", {step}},
                      {"eval_after", {step}},
                      {"eval_calls", {4}},
                      {"eval_input_shape", {100, columns}},
                      {"eval_features", evaluation_features}};
    const Numbers measured = measured_at(step);
    record.insert(record.end(), measured.begin(), measured.end());
    take_record(history, record, static_cast<std::int64_t>(step));
  }
  return diagnose(history);
}

// Of a classifier with 95 % of its answers right in training, and so many in evaluation.
Diagnosis evaluated_with(const Values& training_features, const Values& evaluation_features, double accuracy,
                         bool are_numbers) {
  return with_evaluations(training_features, evaluation_features, are_numbers, [&](double) {
    return Numbers{{"eval_accuracy", {accuracy}}};
  });
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

// Of few songs, which have other words than all of them: the model understands them at first.
TEST(EvaluationInputs, OtherWordsThatAreUnderstoodAtFirst) {
  const auto confidence = [](double first_evaluation) {
    const auto measured_at = [&](double step) {
      return Numbers{{"eval_loss", {step < 100 ? first_evaluation : first_evaluation + 0.1}}, {"eval_losses", {4}}};
    };
    return confidence_of(
        with_evaluations({0.4, 0.3, 0.2, 0.1, 0, 0}, {0.1, 0.1, 0.1, 0.1, 0.3, 0.3}, false, measured_at),
        "evaluation_preprocessing");
  };
  EXPECT_GT(confidence(0.68), 0.5);
  EXPECT_LT(confidence(0.4), 0.2);
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

// A run is untrusted.
TEST(EvaluationInputs, ShapesWithoutAxesAndCountsThatAreNoNumbers) {
  TrainingUnderTest training;
  training.has_labels = false;
  const double none = std::nan(""), many = std::numeric_limits<double>::infinity();
  training.numbers = {{"features", {}},
                      {"input_shape", {}},
                      {"eval_after", {5}},
                      {"eval_features", {}},
                      {"eval_input_shape", {}},
                      {"eval_accuracy", {0.1}},
                      {"labels", {none, many, 3, many}}};
  EXPECT_FALSE(is_told(training.diagnosis(), "data_not_shuffled"));
}

struct Standardised {
  Values evaluation = {200, 6, 8};  // samples, features that are standardised exactly, features
  Values batch = {64, 0, 8};
  bool is_of_training = false;  // are its samples those of the training?
  double loss = 2;              // of the evaluation; that of the training is 0.7
};

double confidence_of_own_statistics(const Standardised& what) {
  const TrainingHistory history = history_of_looks([&](int look) {
    Values rows, evaluated;
    for (int i = 0; i < 16; ++i) rows.push_back(0.5 + look * 16 + i);
    for (int i = 0; i < 40; ++i) evaluated.push_back(what.is_of_training ? 0.5 + 3 * i : 1000.5 + i);
    return Numbers{{"row_prints", rows},      {"standardised", what.batch}, {"eval_after", {5.0 * look}},
                   {"eval_calls", {1}},       {"eval_rows", evaluated},     {"eval_standardised", what.evaluation},
                   {"eval_loss", {what.loss}}};
  });
  for (const CauseFinding& each : diagnose(history).findings) {
    if (each.statement.find("standardised with its own") != std::string::npos) return each.confidence;
  }
  return 0;
}

TEST(EvaluationInputs, WhatIsStandardisedByItself) {
  EXPECT_GT(confidence_of_own_statistics({}), 0.8);
  EXPECT_LT(confidence_of_own_statistics({.loss = 0.7}), 0.5) << "it does no harm";
  EXPECT_EQ(confidence_of_own_statistics({.evaluation = {200, 0, 8}}), 0);
  EXPECT_EQ(confidence_of_own_statistics({.evaluation = {200, 2, 8}}), 0) << "of few features only";
  EXPECT_EQ(confidence_of_own_statistics({.evaluation = {40, 6, 8}}), 0) << "so few samples";
  EXPECT_EQ(confidence_of_own_statistics({.batch = {64, 8, 8}}), 0) << "as each batch of the training is";
  EXPECT_EQ(confidence_of_own_statistics({.is_of_training = true}), 0);
}

}  // namespace
}  // namespace trainwarden::diagnosis
