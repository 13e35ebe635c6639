// What is concluded from histories that are written by hand, through the texts and numbers that a run has.
#include "judge/diagnosis/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "judge/diagnosis/causes.h"
#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

TEST(Diagnosis, SaysNothingOfATrainingThatLearns) {
  const Diagnosis diagnosis = TrainingUnderTest().diagnosis();
  EXPECT_EQ(diagnosis.first(), nullptr) << diagnosis.first()->statement;
  EXPECT_EQ(diagnosis.examined, 40);
  EXPECT_NEAR(diagnosis.symptoms.constant, std::log(2.0), 1e-9);
  EXPECT_GT(diagnosis.symptoms.skill, 0.5);
}

TEST(Diagnosis, SaysThatItKnowsNothingOfARunThatWasNotExamined) {
  const Diagnosis diagnosis = diagnose(TrainingHistory());
  EXPECT_EQ(diagnosis.first(), nullptr);
  ASSERT_EQ(diagnosis.missing.size(), 1u);
  EXPECT_NE(diagnosis.missing[0].find("was not examined"), std::string::npos);
}

TEST(Diagnosis, NamesLayersThatAreNotRegisteredWithTheirPlace) {
  TrainingUnderTest training;
  training.modules = R"({"name":"","kind":"Net","leaf":false,"place":"/home/me/model.py:12"})";
  training.unregistered = R"({"module":"","attribute":"blocks","kind":"Linear","count":3})";
  const Diagnosis diagnosis = training.diagnosis();
  ASSERT_EQ(first_cause(diagnosis), "layers_not_registered");
  EXPECT_EQ(diagnosis.first()->place, "model.py:12");
  EXPECT_NE(diagnosis.first()->statement.find("blocks"), std::string::npos);
}

TEST(Diagnosis, NamesAParameterThatNoOptimizerHas) {
  TrainingUnderTest training;
  training.parameters.replace(training.parameters.rfind("[0]"), 3, "[]");
  EXPECT_EQ(first_cause(training.diagnosis()), "parameters_not_in_optimizer");
  training.gradient = {0.1, -1};  // it gets no gradient: perhaps it is not used
  EXPECT_EQ(first_cause(training.diagnosis()), "");
}

TEST(Diagnosis, NamesACutGraph) {
  TrainingUnderTest training;
  training.gradient = {-1, 0.1};
  EXPECT_EQ(first_cause(training.diagnosis()), "graph_cut");
}

TEST(Diagnosis, NamesGradientsThatAreNeverCleared) {
  TrainingUnderTest training;
  training.stale = 2;
  EXPECT_EQ(first_cause(training.diagnosis()), "gradients_not_cleared");
}

TEST(Diagnosis, NamesAMissingStep) {
  TrainingUnderTest training;
  training.counts[2] = 0;
  EXPECT_EQ(first_cause(training.diagnosis()), "optimizer_step_missing");
}

TEST(Diagnosis, NamesALearningRateThatIsTooHighAndPutsItsConsequencesBehindIt) {
  TrainingUnderTest training;
  training.update = 0.3;  // as large as the weights
  training.loss_at_end = 5;
  TrainingHistory history = training.history();
  history.take_rule({"DeadRelu", "", "all are dead", 3, false});
  const Diagnosis diagnosis = diagnose(history);
  ASSERT_EQ(first_cause(diagnosis), "learning_rate_too_high");
  EXPECT_EQ(diagnosis.first()->place, "train.py:7");
  EXPECT_TRUE(std::any_of(diagnosis.consequences.begin(), diagnosis.consequences.end(),
                          [](const CauseFinding& each) { return each.cause == "dead_relu"; }));
}

TEST(Diagnosis, NamesALearningRateThatIsTooLow) {
  TrainingUnderTest training;
  training.update = 1e-8;
  training.loss_at_end = 0.7;
  const Diagnosis diagnosis = training.diagnosis();
  ASSERT_EQ(first_cause(diagnosis), "learning_rate_too_low");
  const std::vector<std::string>& evidence = diagnosis.first()->evidence;
  EXPECT_TRUE(std::any_of(evidence.begin(), evidence.end(), [](const std::string& line) {
    return line.starts_with("a learning rate of about ") && line.ends_with(" would change them by 0.1 %");
  }));
}

TEST(Diagnosis, NamesShapesThatAreBroadcast) {
  TrainingUnderTest training;
  training.compared =
      R"({"function":"mse_loss","predicted":[16,1],"target":[16],"predicted_dtype":"float32","target_dtype":"float32"})";
  const Diagnosis diagnosis = training.diagnosis();
  ASSERT_EQ(first_cause(diagnosis), "shapes_broadcast_in_loss");
  EXPECT_NE(diagnosis.first()->statement.find("[16, 1]"), std::string::npos);
}

TEST(Diagnosis, NamesASoftmaxBeforeCrossEntropyFromTheGraph) {
  TrainingHistory history = TrainingUnderTest().history();
  history.take_text(
      "examination/graph",
      R"({"nodes":[["NllLoss",[1],{"reduction":1}],["LogSoftmax",[2],{"dim":1}],["Softmax",[3],{"dim":1}],)"
      R"(["Addmm",[],{}]],"complete":true})");
  EXPECT_EQ(first_cause(diagnose(history)), "output_activation");
}

TEST(Diagnosis, TakesARuleOfTheUsersByTheCauseThatItNames) {
  TrainingHistory history = TrainingUnderTest().history();
  history.take_rule({"MyRule", "bad_samples", "sample 7 is empty", 3, false});
  EXPECT_EQ(first_cause(diagnose(history)), "bad_samples");
}

TEST(Diagnosis, TakesWhatARuleFoundByItsEvidence) {
  for (const auto& [quantity, cause] : {std::pair("steps_unchanged", "optimizer_of_old_parameters"),
                                        std::pair("steps_unchanged_of_16_bits", "updates_lost_to_rounding")}) {
    TrainingHistory history;  // of a program in C++, say
    history.take_rule({"NoOpUpdate", "", "36 of 103 do not change", 31, false, 1, quantity});
    EXPECT_EQ(first_cause(diagnose(history)), cause);
  }
}

TEST(Diagnosis, SaysWhichRulesAlarmedWhereNoCauseIsSure) {
  TrainingHistory history;
  history.take_rule({"NoOpUpdate", "", "3 have a gradient of 0", 31, false, 1, "steps_with_zero_gradient"});
  history.take_rule({"LossSpike", "", "the loss jumps", 40, true});  // a note alarms nobody
  const Diagnosis diagnosis = diagnose(history);
  EXPECT_EQ(diagnosis.first(), nullptr);
  EXPECT_EQ(diagnosis.alarms, std::vector<std::string>{"NoOpUpdate"});
}

TEST(Diagnosis, CountsWhatIsDamagedAndGoesOn) {
  TrainingHistory history = TrainingUnderTest().history();
  history.take_text("examination/graph", R"({"nodes":[["A",[9],{}]],"complete":true})");  // points nowhere
  history.take_text("examination/structure", "{");
  history.take_numbers(Values{1, 2}, 201);
  EXPECT_EQ(history.unreadable, 3);
  EXPECT_EQ(diagnose(history).first(), nullptr);
}

TEST(Diagnosis, NamesAStateThatFitsNothing) {
  TrainingUnderTest training;
  training.more = R"(,"loaded":[{"kind":"Net","wanted":12,"missing":12,"unexpected":12}])";
  EXPECT_EQ(first_cause(training.diagnosis()), "bad_checkpoint");
  training.more = R"(,"loaded":[{"kind":"Net","wanted":12,"missing":2,"unexpected":2}])";  // a new head
  EXPECT_EQ(first_cause(training.diagnosis()), "");
}

TEST(Diagnosis, NamesASeedThatIsSetInEachStep) {
  TrainingUnderTest training;
  training.numbers = {{"seeds", {1, 42}}};
  const Diagnosis diagnosis = training.diagnosis();
  ASSERT_EQ(first_cause(diagnosis), "random_state_repeated");
  EXPECT_NE(diagnosis.first()->statement.find("42"), std::string::npos);
}

TEST(Diagnosis, NamesTokensThatNoVocabularyKnows) {
  TrainingUnderTest training;
  training.modules = R"({"name":"emb","kind":"Embedding","leaf":true,"settings":{"num_embeddings":1000}})";
  training.numbers = {{"symbols", {512, 3, 0.9}}};
  EXPECT_EQ(first_cause(training.diagnosis()), "constant_inputs");
  training.numbers = {{"symbols", {512, 90, 0.2}}};
  EXPECT_EQ(first_cause(training.diagnosis()), "");
}

TEST(Diagnosis, NamesARecurrentLayerThatRunsOverTheSamples) {
  TrainingUnderTest training;
  training.numbers = {{"recurrent_axes", {0, 16, 40}}};  // of 16 samples
  EXPECT_EQ(first_cause(training.diagnosis()), "inputs_scrambled");
  training.numbers = {{"recurrent_axes", {0, 40, 16}}};
  EXPECT_EQ(first_cause(training.diagnosis()), "");
}

// A decoder of codes of 3 numbers, which an encoder gives, whose loss does not reach the encoder.
TEST(Diagnosis, NamesPartsThatNoGradientJoins) {
  TrainingUnderTest training;
  training.parameters = R"({"name":"enc.weight","shape":[3,9],"dtype":"float32","trainable":true,"optimizers":[0]},)"
                        R"({"name":"dec.weight","shape":[9,3],"dtype":"float32","trainable":true,"optimizers":[0]})";
  training.graph = R"([["Add",[1,2],{}],["Mean",[3],{}],["MseLoss",[4],{}],["Mm",[5],{}],["Mm",[6],{}],)"
                   R"(["parameter",[],{"number":0}],["parameter",[],{"number":1}]])";
  const Diagnosis diagnosis = training.diagnosis();
  ASSERT_EQ(first_cause(diagnosis), "graph_cut");
  EXPECT_NE(diagnosis.first()->statement.find("dec.weight"), std::string::npos);
  // The code leads back to the encoder.
  training.graph = R"([["Add",[1,2],{}],["Mean",[3],{}],["MseLoss",[4],{}],["Mm",[5],{}],["Mm",[6,3],{}],)"
                   R"(["parameter",[],{"number":0}],["parameter",[],{"number":1}]])";
  EXPECT_EQ(first_cause(training.diagnosis()), "");
}

// A recurrence of 60 steps: entries of 0.3 in 8 rows have a spectral radius of 0.85, those of 0.1 one of 0.28.
TEST(Diagnosis, NamesARecurrenceThatLetsGradientsFade) {
  TrainingUnderTest training;
  training.parameters = R"({"name":"in","shape":[8,4],"dtype":"float32","trainable":true,"optimizers":[0]},)"
                        R"({"name":"again","shape":[8,8],"dtype":"float32","trainable":true,"optimizers":[0]})";
  training.graph = R"([["NllLoss",[3],{}],["parameter",[],{"number":1}],["parameter",[],{"number":0}])";
  for (int i = 0; i < 60; ++i)
    training.graph += fmt::format(R"(,["Tanh",[{}],{{}}],["Mm",[{},1],{{}}])", 4 + 2 * i, i < 59 ? 5 + 2 * i : 2);
  training.graph += "]";
  training.weight = 0.1;
  training.loss_at_end = 0.69;
  const Diagnosis diagnosis = training.diagnosis();
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings[0].cause, "vanishing_gradients");
  EXPECT_NE(diagnosis.findings[0].statement.find("60 times"), std::string::npos);
}

TEST(Diagnosis, TellsTheTrainingBeforeWhereTheLastOneIsInOrder) {
  TrainingUnderTest before, after;
  before.unregistered = R"({"module":"","attribute":"blocks","kind":"Linear","count":3})";
  after.numbers = {{"training", {1}}};
  TrainingHistory history = before.history();
  EXPECT_NE(diagnose(history).first(), nullptr);
  after.add_to(history);
  const Diagnosis diagnosis = diagnose(history);
  ASSERT_NE(diagnosis.first(), nullptr);
  EXPECT_EQ(diagnosis.first()->cause, "layers_not_registered");
  EXPECT_EQ(diagnosis.first()->evidence.front(), "it is of an earlier training of the same process");
}

TEST(History, ATrainingThatWasInterruptedGoesOn) {
  TrainingUnderTest main, probe;
  main.steps = 100, probe.steps = 50;
  main.numbers = {{"training", {0}}}, probe.numbers = {{"training", {1}}};
  TrainingHistory history;
  main.add_to(history);
  probe.add_to(history);
  EXPECT_EQ(history.snapshots.size(), 10u);
  ASSERT_NE(history.other_known(), nullptr);
  EXPECT_EQ(history.other_known()->snapshots.size(), 20u);
  main.add_to(history);
  EXPECT_EQ(history.snapshots.size(), 40u);
  EXPECT_EQ(history.losses.size(), 40u);
  EXPECT_EQ(&history.best_known(), &history);
  ASSERT_NE(history.other_known(), nullptr);
  EXPECT_EQ(history.other_known()->snapshots.size(), 10u);
  probe.numbers = {{"training", {7}}};  // nothing is known of it
  probe.add_to(history);
  EXPECT_EQ(history.snapshots.size(), 10u);
}

// A probe before it had more looks, and hardly any steps.
TEST(History, ATrainingOfFarMoreStepsIsTheOneThatIsJudged) {
  TrainingUnderTest probe, main;
  probe.steps = 25, main.steps = 20;
  main.numbers = {{"training", {1}}};
  TrainingHistory history = probe.history();
  main.add_to(history);
  EXPECT_NE(&history.best_known(), &history);
  take_record(history, {{"training", {1}}, {"look_steps", {300}}, {"looks", {0.1}}}, 300);
  EXPECT_EQ(&history.best_known(), &history);
}

// Of many trainings, as of a search, those that were looked at most.
TEST(History, OfManyTrainingsAFewAreKept) {
  TrainingHistory history;
  for (double number = 0; number < 40; ++number) {
    TrainingUnderTest training;
    training.steps = number == 5 ? 200 : 20;
    training.numbers = {{"training", {number}}};
    training.add_to(history);
  }
  ASSERT_NE(history.other_known(), nullptr);
  EXPECT_EQ(history.best_known().snapshots.size() + history.other_known()->snapshots.size(), 44u);
}

TEST(Diagnosis, NamesSingleElementsThatOutweighTheirBatch) {
  TrainingUnderTest training;
  training.numbers = {{"input", {0, 3, -99, 3, 0, 0}}, {"input_peak", {0.9}}, {"input_shape", {64, 4}}};
  const Diagnosis mild = training.diagnosis();  // it learns all the same: no alarm
  EXPECT_EQ(mild.first(), nullptr);
  ASSERT_FALSE(mild.findings.empty());
  EXPECT_EQ(mild.findings[0].cause, "bad_samples");
  training.numbers[1].second = {0.1};
  EXPECT_TRUE(training.diagnosis().findings.empty());
}

std::string bad_samples(const std::string& kind, int index) {
  return fmt::format(
      R"({{"batches":[{{"kind":"{}","count":1,"samples":[{{"row":0,"index":{},"source":"cat.jpg"}}]}}]}})", kind,
      index);
}

TEST(Diagnosis, NamesTheSampleBehindABadBatch) {
  TrainingUnderTest training;
  training.numbers = {{"input", {0, 3, -3, 3, 0, 0.01}}, {"input_shape", {64, 4}}};
  TrainingHistory history = training.history();
  history.take_bad_samples(bad_samples("same", 3), 4);
  history.take_bad_samples(bad_samples("not_finite", 7), 5);
  history.take_bad_samples(bad_samples("not_finite", 7), 9);  // in the next epoch
  const Diagnosis diagnosis = diagnose(history);
  ASSERT_NE(diagnosis.first(), nullptr);
  EXPECT_EQ(diagnosis.first()->cause, "bad_samples");
  ASSERT_EQ(diagnosis.first()->evidence.size(), 2u);
  EXPECT_EQ(diagnosis.first()->evidence.front(), "sample 7 (cat.jpg)");
}

TEST(Diagnosis, BadBatchesCountWhereTheLossShowsThem) {
  const auto diagnosed = [](double loss_at_end) {
    TrainingUnderTest training;
    training.loss_at_end = loss_at_end;
    TrainingHistory history = training.history();
    history.take_bad_samples(bad_samples("not_finite", 7), 5);
    return diagnose(history);
  };
  EXPECT_EQ(diagnosed(0.1).first(), nullptr);  // the program copes with them
  const Diagnosis ill = diagnosed(NAN);
  ASSERT_NE(ill.first(), nullptr);
  EXPECT_EQ(ill.first()->cause, "bad_samples");
  EXPECT_EQ(ill.first()->evidence.front(), "sample 7 (cat.jpg)");
}

TEST(Diagnosis, NamesClassesThatMayHoldAtOnce) {
  TrainingUnderTest training;
  training.numbers = {{"rows_of_target_sum_to_1", {0.4}}};
  EXPECT_EQ(first_cause(training.diagnosis()), "wrong_loss_function");
}

TEST(Diagnosis, SaysNothingOfALossOfWhichAPartIsSeen) {
  TrainingUnderTest training;
  training.seen_part = 0.25;  // of what backward() is called on
  training.compared_at_end = 0.69;
  EXPECT_EQ(first_cause(training.diagnosis()), "");
  training.seen_part = 1;
  training.compared_at_end = std::nan("");
  training.loss_at_end = 0.69;
  EXPECT_FALSE(training.diagnosis().findings.empty());
}

TEST(Diagnosis, SaysNothingOfDropoutThatIsAveragedOver) {
  TrainingUnderTest training;
  training.modules = R"({"name":"d","kind":"Dropout","leaf":true,"settings":{"p":0.2}})";
  training.counts = {200, 200, 200, 200, 40, 40, 0, 0, 0, 0, 0};
  EXPECT_EQ(first_cause(training.diagnosis()), "training_mode_in_evaluation");
  training.counts.back() = 36;  // passes of the same input
  EXPECT_EQ(first_cause(training.diagnosis()), "");
}

// A graph of a product of a softmax over this dimension of 3 with values.
std::string attention(int dim, bool is_swapped) {
  const std::string softmax = fmt::format(R"(["Softmax",[],{{"dim":{},"axes":3}}])", dim);
  return is_swapped ? fmt::format(R"([["Bmm",[1,3],{{}}],["Transpose",[2],{{}}],{},["leaf",[],{{}}]])", softmax)
                    : fmt::format(R"([["Bmm",[1,2],{{}}],{},["leaf",[],{{}}]])", softmax);
}

TEST(Diagnosis, NamesASoftmaxOverAnotherAxisThanTheSum) {
  TrainingUnderTest training;
  training.graph = attention(-1, false);
  EXPECT_EQ(first_cause(training.diagnosis()), "");
  training.graph = attention(1, false);
  EXPECT_EQ(first_cause(training.diagnosis()), "softmax_dimension");
  training.graph = attention(1, true);  // which is turned on the way
  EXPECT_EQ(first_cause(training.diagnosis()), "");
  training.graph = attention(2, true);
  EXPECT_EQ(first_cause(training.diagnosis()), "softmax_dimension");
}

TEST(Diagnosis, NamesAPoolingThatSumsOverAnotherAxis) {
  const auto pooling = [](int dim, int summed) {
    return fmt::format(
        R"([["Sum",[1],{{"dim":[{}],"sizes":[4,7,3]}}],["Mul",[2,4],{{}}],["Unsqueeze",[3],{{"dim":-1}}],)"
        R"(["Softmax",[],{{"dim":{},"axes":2}}],["leaf",[],{{}}]])",
        summed, dim);
  };
  TrainingUnderTest training;
  training.graph = pooling(1, 1);
  EXPECT_EQ(first_cause(training.diagnosis()), "");
  training.graph = pooling(-1, -2);
  EXPECT_EQ(first_cause(training.diagnosis()), "");
  training.graph = pooling(0, 1);
  EXPECT_EQ(first_cause(training.diagnosis()), "softmax_dimension");
}

TEST(Diagnosis, NamesLogarithmsThatACtcLossGetsFromAnotherAxis) {
  const auto ctc = [](int dim) {
    return fmt::format(R"([["CtcLoss",[1],{{}}],["LogSoftmax",[2],{{"dim":{},"axes":3}}],["leaf",[],{{}}]])", dim);
  };
  TrainingUnderTest training;
  training.graph = ctc(2);
  EXPECT_EQ(first_cause(training.diagnosis()), "");
  training.graph = ctc(1);
  EXPECT_EQ(first_cause(training.diagnosis()), "softmax_dimension");
}

TEST(Diagnosis, NamesWhatACtcLossGetsInPlaceOfLogarithms) {
  const auto cause = [](const char* given) {
    TrainingUnderTest training;
    training.graph = fmt::format(
        R"([["CtcLoss",[1],{{}}],["Transpose",[2],{{}}],["{}",[3],{{"dim":2,"axes":3}}],["leaf",[],{{}}]])", given);
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause("LogSoftmax"), "");
  EXPECT_EQ(cause("Softmax"), "output_activation");
  EXPECT_EQ(cause("Addmm"), "output_activation");
  EXPECT_EQ(cause("Log"), "");
}

TEST(Diagnosis, NamesAForecastThatSeesAhead) {
  TrainingUnderTest training;
  training.parameters.replace(training.parameters.find("[8,4]"), 5, "[8,1,3]");
  const auto convolution = [](int padding) {
    return fmt::format(R"([["Convolution",[1,2],{{"padding":[{}],"dilation":[1]}}],["leaf",[],{{}}],)"
                       R"(["parameter",[],{{"number":0}}]])",
                       padding);
  };
  training.graph = convolution(1);
  EXPECT_EQ(first_cause(training.diagnosis()), "");  // it forecasts nothing
  training.numbers = {{"forecast", {1}}};
  EXPECT_EQ(first_cause(training.diagnosis()), "target_leak");
  training.graph = convolution(2);  // as a causal one, of which the end is cut off
  EXPECT_EQ(first_cause(training.diagnosis()), "");
}

TEST(Diagnosis, NamesALossOfOnesOwnThatComparesEachWithEveryOther) {
  TrainingUnderTest training;
  training.numbers = {{"own_broadcast", {256, 16, 16}}};
  EXPECT_EQ(first_cause(training.diagnosis()), "shapes_broadcast_in_loss");
}

TEST(Diagnosis, TakesWhatIsWeightedByElementsForNoYardstick) {
  TrainingUnderTest training;
  training.loss_at_end = 0.69;
  EXPECT_TRUE(std::isfinite(training.diagnosis().symptoms.skill));
  training.numbers = {{"compared_elements", {5}}};
  EXPECT_FALSE(std::isfinite(training.diagnosis().symptoms.skill));
}

TEST(Diagnosis, NamesRowsThatMixSamples) {
  TrainingUnderTest training;
  training.numbers = {{"batch_order", {0.9, 0.1}}};
  EXPECT_EQ(first_cause(training.diagnosis()), "");
  training.numbers = {{"batch_order", {0.1, 0.9}}};
  EXPECT_EQ(first_cause(training.diagnosis()), "inputs_scrambled");
}

TEST(Diagnosis, NamesAnotherModelThatIsTrainedFromSomeStepOn) {
  TrainingUnderTest training;
  training.steps = 100;
  TrainingHistory history = training.history();
  training.parameters.replace(training.parameters.find("[0]"), 3, "[]");  // the new model's: no optimizer has it
  training.gradient = {0.1, -1};
  training.steps = 60;
  training.add_to(history);
  const Diagnosis diagnosis = diagnose(history);
  EXPECT_EQ(first_cause(diagnosis), "optimizer_of_old_parameters");
}

TEST(Diagnosis, TellsPassesOfAStepThatAreClearedOneByOne) {
  TrainingUnderTest training;
  training.numbers = {{"calls", {4, 4}}};
  EXPECT_TRUE(is_told(training.diagnosis(), "gradients_cleared_too_early"));
  training.numbers = {{"calls", {4, 1}}};
  EXPECT_FALSE(is_told(training.diagnosis(), "gradients_cleared_too_early"));
}

TEST(Diagnosis, NamesTensorsThatNeitherModelNorOptimizerHas) {
  TrainingUnderTest training;
  training.modules = "";
  const auto twice = [&](const char* again) {
    training.graph = fmt::format(R"([["MseLoss",[1],{{}}],["leaf",[],{{"again":{},"sizes":[3]}}]])", again);
    TrainingHistory history = training.history();
    history.take_text("examination/graph", fmt::format(R"({{"nodes":{},"complete":true}})", training.graph));
    return first_cause(diagnose(history));
  };
  EXPECT_EQ(twice("true"), "parameters_not_in_optimizer");
  EXPECT_EQ(twice("false"), "");
}

TEST(Diagnosis, NamesAnOptimizerWhoseParametersNeverMove) {
  TrainingUnderTest training;
  training.parameters = R"({"name":"a","shape":[8,4],"dtype":"float32","trainable":true,"optimizers":[0]},)"
                        R"({"name":"b","shape":[8,4],"dtype":"float32","trainable":true,"optimizers":[1]},)"
                        R"({"name":"c","shape":[8,4],"dtype":"float32","trainable":true,"optimizers":[1]})";
  training.optimizer += "," + training.optimizer;
  training.gradient = {0.1, 0.1, 0.1};
  training.numbers = {{"update_share", {1, 1, 1}}, {"calls", {1, 1}}};
  EXPECT_EQ(first_cause(training.diagnosis()), "");
  training.numbers = {{"update_share", {1, 0, 0}}, {"calls", {1, 1}}};
  EXPECT_EQ(first_cause(training.diagnosis()), "optimizer_step_missing");
  training.numbers = {{"update_share", {1, 0, 0}}, {"calls", {2, 2}}};
  EXPECT_EQ(first_cause(training.diagnosis()), "gradients_cleared_too_early");
  training.optimizer.replace(training.optimizer.rfind("{\"kind\""), 1, R"({"stepped":false,)");
  EXPECT_EQ(first_cause(training.diagnosis()), "optimizer_step_missing");
}

TEST(Diagnosis, TellsWeightsThatSomethingElseChangesNowAndThen) {
  TrainingUnderTest training;
  training.numbers = {{"outside", {1, 10}}};
  EXPECT_TRUE(is_told(training.diagnosis(), "weights_changed_outside_step"));
  training.numbers = {{"outside", {0, 10}}};
  EXPECT_FALSE(is_told(training.diagnosis(), "weights_changed_outside_step"));
  training.numbers = {{"outside", {1, 10}}, {"calls", {2, 1}}};  // moved and moved back between two passes
  EXPECT_LT(training.diagnosis().findings.front().confidence, 0.25);
}

TEST(Diagnosis, NamesUpdatesOfWhichMostAreRoundedAway) {
  TrainingUnderTest training;
  for (std::size_t at = training.parameters.find("float32"); at != std::string::npos;
       at = training.parameters.find("float32"))
    training.parameters.replace(at, 7, "bfloat16");
  training.loss_at_end = 0.4;
  training.update = 0.01;
  training.numbers = {{"update_share", {0.9, 0.9}}};
  EXPECT_EQ(first_cause(training.diagnosis()), "");
  training.numbers = {{"update_share", {0.1, 0.1}}};
  EXPECT_EQ(first_cause(training.diagnosis()), "updates_lost_to_rounding");
}

TEST(Diagnosis, NamesBatchNormThatHasNeverAveraged) {
  TrainingUnderTest training;
  const auto with = [&](int tracked) {
    training.modules =
        fmt::format(R"({{"name":"n","kind":"BatchNorm1d","leaf":true,"settings":{{"tracked":{}}}}})", tracked);
    training.counts = {200, 200, 200, 200, 0, 0, 200, 0, 0, 0, 0};
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(with(0), "evaluation_mode_in_training");
  EXPECT_EQ(with(400), "");  // frozen on purpose, perhaps
}

TEST(Causes, ExplainKnownCausesOnly) {
  for (const Cause& cause : causes()) {
    EXPECT_FALSE(cause.next_step.empty()) << cause.name;
    for (const std::string_view other : cause.explains)
      EXPECT_NE(find_cause(other), nullptr) << cause.name << " explains " << other;
  }
  EXPECT_EQ(find_cause("nothing of the kind"), nullptr);
}

TEST(Causes, SaysWhatTellsTwoOfThemApart) {
  EXPECT_FALSE(what_tells_apart("label_noise", "labels_misaligned").empty());
  EXPECT_EQ(what_tells_apart("label_noise", "labels_misaligned"), what_tells_apart("labels_misaligned", "label_noise"));
  EXPECT_TRUE(what_tells_apart("hang", "label_noise").empty());
  std::size_t pairs = 0;  // each both ways: a name that is in no catalogue would be missing
  for (const Cause& one : causes()) {
    for (const Cause& other : causes()) pairs += what_tells_apart(one.name, other.name).empty() ? 0 : 1;
  }
  EXPECT_EQ(pairs, 2u * 33u);
}

// A program of LibTorch, or a hook of one's own: its losses are all that is known.
TrainingHistory recorded(double late, double late_evaluation, std::int64_t steps = 200) {
  TrainingHistory history;
  for (std::int64_t step = 0; step < steps; ++step) {
    const double share = static_cast<double>(step) / static_cast<double>(steps);
    const double noise = 0.01 * std::sin(static_cast<double>(step * step));
    history.take_loss(false, 1 + share * (late - 1) + noise, step);
    if (step % 20 != 19) continue;
    const double worst = share < 0.3 ? 1 - share : 0.7 + (share - 0.3) / 0.7 * (late_evaluation - 0.7);
    for (const double part : {0.9, 1.1}) history.take_loss(true, part * worst, step / 10);
  }
  return history;
}

TEST(Recorded, LossesAloneTellHowItGoes) {
  EXPECT_EQ(first_cause(diagnose(recorded(0.1, 0.2))), "");
  EXPECT_EQ(first_cause(diagnose(recorded(0.1, 2.5))), "overtraining");  // which is why it overfits
  EXPECT_TRUE(is_told(diagnose(recorded(40, 40)), "training_diverged"));
  const Diagnosis still = diagnose(recorded(1, 1));
  EXPECT_TRUE(is_told(still, "no_learning"));
  ASSERT_FALSE(still.missing.empty());
  EXPECT_NE(still.missing.front().find("only its losses and its rules"), std::string::npos);
}

TEST(Recorded, AnExaminationKnowsMore) {
  TrainingHistory history = recorded(1, 1);
  TrainingUnderTest training;
  training.add_to(history);
  EXPECT_EQ(history.losses.size(), training.history().losses.size());
  EXPECT_TRUE(history.evaluations.empty());
}

}  // namespace
}  // namespace trainwarden::diagnosis
