// What is read off the numbers of a training: both sides of each.
#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

// A week of training: how it began is kept, and how it goes on.
TEST(History, OfVeryManyExaminationsAPartIsKept) {
  TrainingUnderTest training;
  training.steps = 5 * 4'000;
  const TrainingHistory history = training.history();
  EXPECT_EQ(history.fulls, 4'000);
  ASSERT_LE(history.snapshots.size(), 600u);
  EXPECT_EQ(history.snapshots[3].step, 15);
  EXPECT_EQ(history.snapshots.back().step, 19'995);
  EXPECT_EQ(history.snapshots[history.snapshots.size() - 2].step, 19'990);
  for (std::size_t i = 1; i < history.snapshots.size(); ++i) {
    ASSERT_LT(history.snapshots[i - 1].step, history.snapshots[i].step);
  }
  EXPECT_EQ(diagnose(history).examined, 4'000);
}

TEST(Rates, ALossThatIsMultipliedAndNotDividedAgain) {
  const auto cause = [](double factor, const char* optimizer) {
    TrainingUnderTest training;
    training.seen_part = 1 / factor;
    training.loss_at_end = 0.72;  // it learns nothing
    training.optimizer = optimizer;
    return confidence_of(training.diagnosis(), "loss_scaling");
  };
  const char* const sgd = R"({"kind":"SGD","groups":[{"parameters":2,"lr":0.1,"momentum":0}]})";
  EXPECT_GT(cause(128, sgd), 0.8);
  EXPECT_EQ(cause(4, sgd), 0);
  EXPECT_EQ(cause(128, R"({"kind":"Adam","groups":[{"parameters":2,"lr":0.1}]})"), 0);
}

TEST(Rates, GradientsThatExplodeBeforeTheFirstStep) {
  const auto cause = [](double gradient, const char* kind) {
    TrainingUnderTest training;
    training.modules =
        fmt::format(R"({{"name":"0","kind":"{}","leaf":true}},{{"name":"2","kind":"Linear","leaf":true}})", kind);
    training.gradient = {gradient, gradient};
    training.loss_at_end = 1e6;
    training.update = 0.3;
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause(400, "RNN"), "exploding_gradients");
  EXPECT_EQ(cause(1, "RNN"), "learning_rate_too_high");
  EXPECT_EQ(cause(400, "Linear"), "learning_rate_too_high");
}

TEST(Wiring, AnOptimizerThatStepsWithoutABackwardPass) {
  const auto cause = [](double backwards, double second, bool is_used = true) {
    TrainingUnderTest training;
    training.parameters.replace(training.parameters.rfind("[0]"), 3, "[1]");
    training.optimizer += R"(,{"kind":"Adam","groups":[{"parameters":1,"lr":0.1}]})";
    training.gradient = {0.1, second};
    training.numbers = {{"calls", {backwards, 2}}};
    training.graph = fmt::format(R"([["Mul",[1,2],{{}}],["parameter",[],{{"number":0}}],{}])",
                                 is_used ? R"(["parameter",[],{"number":1}])" : R"(["Other",[],{}])");
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause(1, 0), "backward_missing");
  EXPECT_NE(cause(1, 0.1), "backward_missing");  // one loss for both
  EXPECT_NE(cause(2, 0), "backward_missing");
  EXPECT_NE(cause(1, 0, false), "backward_missing");  // it is cut off
}

TEST(Data, FewNegatives) {
  const auto cause = [](const char* predicted, Values labels) {
    TrainingUnderTest training;
    training.compared = fmt::format(R"({{"function":"cross_entropy","predicted":{},"target":[2],)"
                                    R"("predicted_dtype":"float32","target_dtype":"int64"}})",
                                    predicted);
    training.has_labels = false;
    training.numbers = {{"labels", std::move(labels)}};
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause("[2,2]", {1, 1}), "batch_size");
  EXPECT_EQ(cause("[2,2]", {2, 0}), "");
  EXPECT_EQ(cause("[16,2]", {1, 1}), "");
}

TEST(Data, AnEvaluationOfAnotherModel) {
  const auto confidence = [](Values shape) {
    const Numbers numbers = {{"input_shape", {16, 8}}, {"input", {0, 1, -3, 3, 0, 0}},
                             {"input_scales", {1, 1}}, {"eval_after", {20}},
                             {"eval_calls", {4}},      {"eval_input", {0.3, 0.25, 0, 1, 0, 0}},
                             {"eval_loss", {2.2}},     {"eval_input_shape", std::move(shape)}};
    return confidence_with(numbers, "evaluation_preprocessing");
  };
  EXPECT_GT(confidence({64, 8}), 0.8);
  EXPECT_EQ(confidence({64, 1, 16, 16}), 0);
  EXPECT_EQ(confidence({64, 9}), 0);
}

TEST(Data, OneFeatureOnAScaleOfItsOwn) {
  const auto confidence = [](double largest, double is_float) {
    TrainingUnderTest training;
    training.loss_at_end = 0.69;
    training.numbers = {{"input_shape", {16, 1}},
                        {"input", {largest / 2, largest / 4, 0, largest, 0, 0}},
                        {"float_inputs", {is_float}}};
    return confidence_of(training.diagnosis(), "input_scale");
  };
  EXPECT_GT(confidence(500, 1), 0.8);
  EXPECT_EQ(confidence(2, 1), 0);
}

TEST(Data, InputsBesideTheFirstOne) {
  const Values plain = {0, 1, -3, 3, 0, 0};
  const auto cause = [&](Numbers numbers) {
    TrainingUnderTest training;
    training.loss_at_end = 0.69;
    training.numbers = {{"input_shape", {16, 4}}, {"input", plain}, {"input_scales", {1, 1}}};
    training.numbers.insert(training.numbers.end(), numbers.begin(), numbers.end());
    return training.diagnosis();
  };
  const Values large = {360, 740, -3, 2020, 0, 0};
  EXPECT_GT(confidence_of(cause({{"float_inputs", {1, 1}}, {"input1", large}}), "input_scale"), 0.8);
  EXPECT_EQ(confidence_of(cause({{"float_inputs", {1, 0}}, {"input1", large}}), "input_scale"), 0);  // tokens
  EXPECT_GT(confidence_of(cause({{"other_input", plain}, {"other_input_spread", {1, 1}}}), "constant_inputs"), 0.8);
  EXPECT_EQ(confidence_of(cause({{"other_input", plain}, {"other_input_spread", {1, 0}}}), "constant_inputs"), 0);
  EXPECT_EQ(
      confidence_of(cause({{"other_input", {0, 0, 0, 0, 1, 0}}, {"other_input_spread", {0, 1}}}), "constant_inputs"),
      0);  // what a decoder begins with
}

TEST(Machine, WaitsForData) {
  const auto cause = [](double waited, double steps) {
    TrainingHistory history = TrainingUnderTest().history();
    history.take_signal(kWallSeconds, 10, 100);
    history.take_signal(kCountedSteps, steps, 100);
    history.take_signal(kDataWaitSeconds, waited, 100);
    history.take_signal(kDataStartSeconds, 0.5, 100);
    return first_cause(diagnose(history));
  };
  EXPECT_EQ(cause(8, 200), "slow_data_loading");
  EXPECT_EQ(cause(3, 200), "");
  EXPECT_EQ(cause(8, 5000), "");  // next to nothing a step
}

TEST(Data, NoiseThatIsTheSameInEachStep) {
  const auto cause = [](double deviation, bool has_two) {
    TrainingUnderTest training;
    if (has_two) training.optimizer += R"(,{"kind":"Adam","groups":[{"parameters":1,"lr":0.1}]})";
    training.numbers = {
        {"calls", {2, 2}}, {"input", {0, deviation, -3, 3, 0, 0}}, {"print_steps", {1}}, {"prints", {7}}};
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause(1, true), "random_state_repeated");
  EXPECT_NE(cause(5, true), "random_state_repeated");
  EXPECT_NE(cause(1, false), "random_state_repeated");
}

TEST(Generalisation, RightAnswersThatTheTrainingDoesNotTake) {
  const auto weight = [](double evaluated, double dropout) {
    TrainingUnderTest training;
    training.modules += fmt::format(R"(,{{"name":"3","kind":"Dropout","leaf":true,"settings":{{"p":{}}}}})", dropout);
    training.numbers = {{"accuracy", {0.45}}, {"eval_after", {1}}, {"eval_calls", {4}}, {"eval_accuracy", {evaluated}}};
    return confidence_of(training.diagnosis(), "label_noise");
  };
  EXPECT_GT(weight(0.9, 0), 0.3);
  EXPECT_EQ(weight(0.9, 0.5), 0);
  EXPECT_EQ(weight(0.6, 0), 0);
}

TEST(Generalisation, SquaresThatTheProgramComputesItself) {
  const auto cause = [](const char* function) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.compared = fmt::format(R"({{"function":"{}","predicted":[16,1],"target":[16,1],)"
                                    R"("predicted_dtype":"float32","target_dtype":"float32"}})",
                                    function);
    TrainingHistory history;
    for (const double late : {0.7, 0.5, 0.9, 1.4, 2.0}) {
      training.numbers = {{"eval_after", {late}}, {"eval_calls", {4}}, {"eval_square", {late}}};
      training.steps = 10;
      training.add_to(history);
    }
    training.numbers.clear();
    training.steps = 200;
    training.loss_at_end = 0.05;
    training.add_to(history);
    return is_told(diagnose(history), "overfitting") || is_told(diagnose(history), "overtraining");
  };
  EXPECT_TRUE(cause("mse_loss"));
  EXPECT_FALSE(cause("l1_loss"));
}

TEST(Rules, DeadUnitsThroughWhichNothingComesBack) {
  const auto confidence = [](double gradient) {
    TrainingUnderTest training;
    training.gradient = {gradient, 0.1};
    training.loss_at_end = 0.69;
    TrainingHistory history = training.history();
    history.take_rule({"DeadRelu", "", "all units are dead", 1, false, 1});
    return confidence_of(diagnose(history), "dead_relu");
  };
  EXPECT_GT(confidence(0), 0.8);
  EXPECT_LT(confidence(0.1), 0.5);
}

// Losses that were seen early only, and evaluations to the end.
TrainingHistory seen_early(double loss_at_end, const std::vector<double>& accuracies, Values labels = {8, 8},
                           double share = 0.6) {
  TrainingUnderTest training;
  training.loss_at_end = loss_at_end;
  training.has_labels = false;
  training.numbers = {{"labels", std::move(labels)}, {"top_share", {share}}};
  TrainingHistory history = training.history();
  double after = 400;
  std::string layout = R"({"layout":[["step",1],["eval_after",1],["eval_calls",1],["eval_accuracy",1]]})";
  history.take_text("examination/layout", layout);
  for (const double accuracy : accuracies) {
    history.take_numbers(Values{after, after, 4, accuracy}, static_cast<std::int64_t>(after));
    after += 200;
  }
  return history;
}

TEST(Symptoms, EvaluationsTellWhatBecameOfATrainingThatWasSeenEarlyOnly) {
  EXPECT_TRUE(symptoms_of(seen_early(0.7, {0.5, 0.48, 0.51})).learns_nothing);
  EXPECT_TRUE(is_told(diagnose(seen_early(0.7, {0.5, 0.48, 0.51})), "labels_misaligned"));
  EXPECT_FALSE(symptoms_of(seen_early(0.7, {0.5, 0.7, 0.9})).learns_nothing);
  EXPECT_FALSE(symptoms_of(seen_early(0.7, {0.5, 0.48})).learns_nothing);  // too few
  EXPECT_FALSE(symptoms_of(seen_early(0.1, {0.5, 0.48, 0.51})).learns_nothing);
}

// Where few evaluations were looked at, the last fifth of them begins early in the training.
TEST(Symptoms, ALateEvaluationIsOneNearTheLast) {
  TrainingHistory history;
  for (int step = 0; step < 24; ++step) {
    Evaluated each;
    each.after_step = step;
    each.accuracy = 0.02 * step;
    each.loss = 2 - 0.02 * step;
    history.evaluations.push_back(each);
  }
  history.evaluations.back().after_step = 190;
  history.evaluations.back().accuracy = 0.94;
  history.evaluations.back().loss = 0.3;
  const Symptoms seen = symptoms_of(history);
  EXPECT_EQ(seen.eval_accuracy, 0.94);
  EXPECT_EQ(seen.eval_late, 0.3);
  for (Evaluated& each : history.evaluations) each.after_step = 0;  // nobody knows where they lie
  EXPECT_DOUBLE_EQ(symptoms_of(history).eval_accuracy, 0.44);
}

TEST(Data, OneClassThatAnEvaluationOfOtherSharesShows) {
  const auto weight = [](double accuracy) {
    return confidence_of(diagnose(seen_early(0.1, {accuracy, accuracy, accuracy}, {62, 2}, 1)), "class_imbalance");
  };
  EXPECT_GT(weight(0.55), 0.8);
  EXPECT_LT(weight(0.97), 0.5);
}

TEST(Collapse, OneClassForAllWhileTheSumOfLossesFalls) {
  const auto weight = [](double share, double accuracy) {
    TrainingUnderTest training;
    training.seen_part = 0.1;
    training.compared_at_end = 8;
    training.loss_at_end = 0.2;
    TrainingHistory history;
    for (const double after : {10.0, 100.0, 190.0}) {
      training.numbers = {{"accuracy", {0.5}},     {"top_share", {share}}, {"classes", {2}},
                          {"eval_after", {after}}, {"eval_calls", {4}},    {"eval_accuracy", {accuracy}}};
      training.add_to(history);
    }
    return confidence_of(diagnose(history), "predicts_one_class");
  };
  EXPECT_GT(weight(1, 0.5), 0.25);
  EXPECT_EQ(weight(0.6, 0.5), 0);
  EXPECT_EQ(weight(1, 0.9), 0);
}

TEST(Generalisation, WhatIsLearnedByHeartAndHoldsForNothingElse) {
  const auto cause = [](double best) {
    TrainingUnderTest training;
    training.steps = 60;
    training.loss_at_end = 0.01;
    TrainingHistory history;
    for (const double times : {1, 2, 3, 4}) {
      training.numbers = {{"eval_after", {60 * times}}, {"eval_calls", {4}}, {"eval_loss", {best * times}}};
      training.add_to(history);
    }
    training.numbers.clear();
    training.steps = 400;
    training.add_to(history);
    return first_cause(diagnose(history));
  };
  EXPECT_EQ(cause(1.2), "labels_misaligned");  // a constant answer has about 0.7
  EXPECT_NE(cause(0.4), "labels_misaligned");  // it has generalised once
}

TEST(Generalisation, ALossThatRisesWhileTheAnswersStayRight) {
  const auto weight = [](double accuracy) {
    TrainingUnderTest training;
    training.steps = 60;
    training.loss_at_end = 0.01;
    TrainingHistory history;
    for (const double loss : {0.3, 0.2, 0.5, 0.7}) {
      training.numbers = {
          {"eval_after", {10 * loss}}, {"eval_calls", {4}}, {"eval_loss", {loss}}, {"eval_accuracy", {accuracy}}};
      training.add_to(history);
    }
    training.numbers.clear();
    training.steps = 400;
    training.add_to(history);
    const Diagnosis diagnosis = diagnose(history);
    return std::max(confidence_of(diagnosis, "overfitting"), confidence_of(diagnosis, "overtraining"));
  };
  EXPECT_GT(weight(0.7), 0.8);
  EXPECT_LT(weight(0.98), 0.5);
}

TEST(Start, ALinearAutoencoderOfTwoLayers) {
  const auto weight = [](double same) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.compared = R"({"function":"mse_loss","predicted":[16,2],"target":[16,2],)"
                        R"("predicted_dtype":"float32","target_dtype":"float32"})";
    training.loss_at_end = 0.5;
    training.numbers = {{"target_mean", {0, 0}}, {"target_square", {1, 1}}, {"target_is_input", {same}}};
    training.graph = R"([["Addmm",[1,2],{}],["parameter",[],{"number":1}],["Addmm",[3],{}],)"
                     R"(["parameter",[],{"number":0}]])";
    return confidence_of(training.diagnosis(), "missing_nonlinearity");
  };
  EXPECT_GT(weight(0), 0.7);
  EXPECT_LT(weight(1), 0.5);
}

TEST(Start, ASureBeginnerWhoseEndWasNotSeen) {
  const auto weight = [](double evaluated) {
    TrainingUnderTest training;
    training.steps = 20;
    training.numbers = {{"predicted", {0, 27, -60, 90, 0, 0}},
                        {"labels", {4, 12}},
                        {"loss", {11}},
                        {"compared_loss", {11}},
                        {"looks", {11}}};
    training.has_labels = false;
    TrainingHistory history = training.history();
    history.take_text("examination/layout",
                      R"({"layout":[["step",1],["eval_after",1],["eval_calls",1],["eval_loss",1]]})");
    history.take_numbers(Values{400, 400, 4, evaluated}, 400);
    return confidence_of(diagnose(history), "initialisation_scale");
  };
  EXPECT_GT(weight(5), 0.8);
  EXPECT_LT(weight(0.4), 0.5);
}

TEST(Data, NumbersOfAFewClassesAreNoQuantity) {
  const auto confidence = [](std::size_t classes, double telling) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.numbers = {
        {"telling", {telling, 5, 0}}, {"classes", {static_cast<double>(classes)}}, {"labels", Values(classes, 8)}};
    return confidence_of(training.diagnosis(), "target_leak");
  };
  EXPECT_GT(confidence(2, 0.993), 0.8);
  EXPECT_GT(confidence(2, 0.93), 0.1);  // perhaps
  EXPECT_LT(confidence(2, 0.93), 0.5);
  EXPECT_EQ(confidence(2, 0.85), 0);
  EXPECT_EQ(confidence(10, 0.93), 0);
  EXPECT_EQ(confidence(3, 0.993), 0) << "the middles of three classes lie on a line by chance";
  EXPECT_GT(confidence(3, 0.9999), 0.8);
  EXPECT_GT(confidence(10, 0.993), 0.8);
}

}  // namespace
}  // namespace trainwarden::diagnosis
