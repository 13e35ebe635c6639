// Faults that people report: both sides of each detector.
#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

TEST(Wiring, ASampleThatIsDrawnByTorchNormal) {
  const auto confidence = [](const char* operation) {
    TrainingUnderTest training;
    training.graph = fmt::format(R"([["Mean",[1],{{}}],["{}",[2],{{}}],["parameter",[],{{"number":0}}]])", operation);
    return confidence_of(training.diagnosis(), "graph_cut");
  };
  EXPECT_GT(confidence("Normal"), 0.9);
  EXPECT_EQ(confidence("Add"), 0);
}

// The product of two tables that are both zero has a gradient of zero in both.
TEST(Start, WeightsThatAreMultipliedByOthersThatAreZero) {
  const auto confidence = [](double weight, const Values& gradient) {
    TrainingUnderTest training;
    training.modules = R"({"name":"0","kind":"Embedding","leaf":true},{"name":"2","kind":"Embedding","leaf":true})";
    training.weight = weight;
    training.gradient = gradient;
    return confidence_of(training.diagnosis(), "constant_initialisation");
  };
  EXPECT_GT(confidence(0, {0, 0}), 0.85);
  EXPECT_EQ(confidence(0, {0, 0.1}), 0) << "one of them learns";
  EXPECT_EQ(confidence(0.3, {0, 0}), 0);
}

TEST(Rates, AStartThatWasTooFastAndThenAllWasLearned) {
  const auto confidence = [](double loss_at_end) {
    TrainingUnderTest training;
    training.loss_at_end = 6;
    training.update = 0.2;
    training.steps = 20;
    TrainingHistory history;
    training.add_to(history);
    training.loss_at_start = 6;
    training.loss_at_end = loss_at_end;
    training.update = 0.001;
    training.steps = 200;
    training.add_to(history);
    training.loss_at_start = loss_at_end;
    training.add_to(history);
    return confidence_of(diagnose(history), "learning_rate_too_high");
  };
  EXPECT_GT(confidence(0.6), 0.8);
  EXPECT_LT(confidence(0.2), 0.5);
}

TEST(Rates, ADecayThatTakesOffMoreThanIsLearned) {
  const auto first = [](double decay) {
    TrainingUnderTest training;
    training.loss_at_end = 0.72;
    training.update = 0.1;
    training.optimizer =
        fmt::format(R"({{"kind":"AdamW","groups":[{{"parameters":2,"lr":0.003,"weight_decay":{}}}]}})", decay);
    TrainingHistory history;
    training.steps = 100;
    training.add_to(history);
    training.weight = 0.01;
    training.add_to(history);
    return confidence_of(diagnose(history), "weight_decay_too_strong");
  };
  EXPECT_GT(first(100), 0.9);
  EXPECT_LT(first(1), 0.9);
  EXPECT_EQ(first(0.01), 0);
}

TEST(Loss, AnActivationBeforeASquareThatTheProgramComputes) {
  const auto confidence = [](double lowest, const char* function) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.compared = fmt::format(R"({{"function":"{}","predicted":[16,1],"target":[16,1],)"
                                    R"("predicted_dtype":"float32","target_dtype":"float32"}})",
                                    function);
    training.graph = R"([["Mean",[1],{}],["Pow",[2],{"exponent":2}],["Sub",[3],{}],["Relu",[4],{}],)"
                     R"(["Addmm",[5],{}],["parameter",[],{"number":1}]])";
    training.numbers = {{"target", {0, 1, lowest, 2, 0, 0}}};
    return confidence_of(training.diagnosis(), "output_activation");
  };
  EXPECT_GT(confidence(-2, "mse (own)"), 0.9);
  EXPECT_EQ(confidence(0, "mse (own)"), 0);
  EXPECT_EQ(confidence(-2, "nll (own)"), 0);
}

TEST(Loss, TargetsOfABinaryCrossEntropyThatAreNoProbabilities) {
  const auto cause = [](const char* function, double low, double high) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.compared = fmt::format(R"({{"function":"{}","predicted":[16,8],"target":[16,8],)"
                                    R"("predicted_dtype":"float32","target_dtype":"float32"}})",
                                    function);
    training.numbers = {{"target", {0, 1, low, high, 0, 0}}};
    return confidence_of(training.diagnosis(), "wrong_loss_function");
  };
  EXPECT_GT(cause("binary_cross_entropy_with_logits", -1, 1), 0.9);
  EXPECT_GT(cause("BCELoss", 0, 255), 0.9);
  EXPECT_EQ(cause("binary_cross_entropy_with_logits", 0, 1), 0);
  EXPECT_EQ(cause("mse_loss", -1, 1), 0);
}

TEST(Loss, AGeneratorThatCannotMakeItsData) {
  const auto confidence = [](Values ranges) {
    return confidence_with({{"adversary_ranges", std::move(ranges)}}, "output_activation");
  };
  EXPECT_GT(confidence({-1, 1, 0.01, 0.99}), 0.8);
  EXPECT_EQ(confidence({0, 1, 0.01, 0.99}), 0);
  EXPECT_EQ(confidence({-1, 1, -0.7, 0.99}), 0);
  EXPECT_GT(confidence({-1, 1, 0.4, 0.6}), 0.8);         // never below zero, in 40 looks
  EXPECT_EQ(confidence({-1, 1, -0.1, 0.6}), 0);          // a beginner's, of whatever kind
  EXPECT_GT(confidence({-2, 2, 0.01, 0.99, 0.3}), 0.8);  // data of -1 to 1, with noise
  EXPECT_EQ(confidence({-1.2, 2, 0.01, 0.99, 0.3}), 0);
}

TEST(Modes, StatisticsThatHaveNotCome) {
  const auto confidence = [](double momentum, double distance) {
    TrainingUnderTest training;
    training.modules = fmt::format(R"({{"name":"0","kind":"BatchNorm2d","leaf":true,"settings":{{"momentum":{}}}}},)"
                                   R"({{"name":"2","kind":"Linear","leaf":true}})",
                                   momentum);
    const double none = std::nan("");
    training.numbers = {{"norms", {0.1, distance, none, none}}};
    training.steps = 25;  // before what is looked for in settled trainings
    return confidence_of(training.diagnosis(), "batch_norm_statistics");
  };
  EXPECT_GT(confidence(0.001, -1.5), 0.8);
  EXPECT_EQ(confidence(0.1, -1.5), 0);
  EXPECT_EQ(confidence(0.001, 0.1), 0);  // they were loaded
}

TEST(Rates, ClippingThatATrainingHasLearnedWith) {
  const auto confidence = [](double loss_at_end) {
    TrainingUnderTest training;
    training.loss_at_start = 15;
    training.loss_at_end = loss_at_end;
    training.numbers = {{"clip_limit", {1}}, {"clip_norm", {45}}};
    return confidence_of(training.diagnosis(), "gradient_clipping_too_strong");
  };
  EXPECT_GT(confidence(10), 0.5);  // it still falls, slowly
  EXPECT_EQ(confidence(0.6), 0);
}

TEST(Start, SmallGradientsOfATrainingThatHasDiverged) {
  const auto confidence = [](double loss_at_end) {
    TrainingUnderTest training;
    training.modules += R"(,{"name":"4","kind":"Linear","leaf":true})";
    training.parameters += R"(,{"name":"4.weight","shape":[8,2],"dtype":"float32","trainable":true,"optimizers":[0]})";
    training.gradient = {1e-7, 0.1, 1};
    training.loss_at_end = loss_at_end;
    training.numbers = {
        {"weight", {0.3, 0.3, 0.3}}, {"update", {0.001, 0.001, 0.001}}, {"unit_spread", {0.5, 0.5, 0.5}}};
    return confidence_of(training.diagnosis(), "vanishing_gradients");
  };
  EXPECT_GT(confidence(0.7), 0.8);
  EXPECT_EQ(confidence(1e9), 0);
}

TEST(Start, ZerosThatMoveAreMeant) {
  const auto confidence = [](double later) {
    TrainingUnderTest training;
    training.loss_at_end = training.loss_at_start;  // it learns nothing, whatever the reason
    training.modules += R"(,{"name":"4","kind":"Linear","leaf":true})";
    training.parameters += R"(,{"name":"4.weight","shape":[8,2],"dtype":"float32","trainable":true,"optimizers":[0]})";
    training.gradient = {0.1, 0.1, 0.1};
    training.steps = 1;  // the first examination
    training.numbers = {{"weight", {0.3, 0, 0}}, {"unit_spread", {0.5, 0, 0}}, {"update", {0.001, 0.001, 0.001}}};
    TrainingHistory history = training.history();
    training.steps = 200;
    training.numbers = {{"weight", {0.3, later, later}}, {"update", {0.001, 0.001, 0.001}}};
    TrainingHistory whole;
    training.add_to(whole);
    history.snapshots.insert(history.snapshots.end(), whole.snapshots.begin(), whole.snapshots.end());
    return confidence_of(diagnose(history), "constant_initialisation");
  };
  EXPECT_GT(confidence(0), 0.8);
  EXPECT_LT(confidence(0.01), 0.5);
}

TEST(Modes, StatisticsOfTheLastBatch) {
  const auto confidence = [](double momentum, double second, double fourth) {
    TrainingUnderTest training;
    training.modules = fmt::format(R"({{"name":"0","kind":"BatchNorm2d","leaf":true,"settings":{{"momentum":{}}}}},)"
                                   R"({{"name":"2","kind":"Linear","leaf":true}})",
                                   momentum);
    TrainingHistory history = training.history();
    for (const double loss : {0.01, second, 0.008, fourth}) {  // well below those of training
      Evaluated each;
      each.loss = loss;
      history.evaluations.push_back(each);
    }
    return confidence_of(diagnose(history), "batch_norm_statistics");
  };
  EXPECT_GT(confidence(0.9, 0.02, 0.02), 0.8);    // its evaluations jump
  EXPECT_LT(confidence(0.9, 0.009, 0.007), 0.5);  // a possibility
  EXPECT_GT(confidence(0.9, 0.009, 0.007), 0);
  EXPECT_EQ(confidence(0.1, 0.02, 0.02), 0);
  EXPECT_EQ(confidence(1, 0.02, 0.02), 0);
}

TEST(Modes, ACopyWhoseStatisticsAreAsTheyWereMade) {
  const auto confidence = [](double fresh, double after) {
    return confidence_with({{"eval_after", {after}}, {"eval_calls", {4}}, {"eval_norms", {9, fresh}}},
                           "batch_norm_statistics");
  };
  EXPECT_GT(confidence(9, 20), 0.8);
  EXPECT_EQ(confidence(3, 20), 0);
  EXPECT_EQ(confidence(9, 0), 0);  // before the first step all are
}

TEST(Modes, AnEvaluationInTrainingModeBetweenTheSteps) {
  const auto confidence = [](double steps, double begun = 0, double others = 0) {
    TrainingUnderTest training;
    training.modules = R"({"name":"0","kind":"Dropout","leaf":true},{"name":"2","kind":"Linear","leaf":true})";
    training.counts = {40, 40, 40, 40, 150, 150, 0, 0, 0, 0, 0, steps, begun, others};
    return confidence_of(training.diagnosis(), "training_mode_in_evaluation");
  };
  EXPECT_GT(confidence(2), 0.8);
  EXPECT_LT(confidence(40), 0.5);        // as of a teacher
  EXPECT_GT(confidence(40, 4000), 0.8);  // steps that were only counted are among the 40
  EXPECT_LT(confidence(3900, 4000), 0.5);
  EXPECT_EQ(confidence(2, 4000, 400), 0);  // most of the evaluation is in its own mode
}

TEST(Inputs, FarOffUnderALossOfTheProgramsOwn) {
  const auto confidence = [](double size, double begin) {
    TrainingUnderTest training;
    training.compared = "";
    training.has_labels = false;
    training.loss_at_start = begin;
    training.numbers = {
        {"input", {0, size, -size, 3 * size, 0, 0}}, {"input_scales", {size, size}}, {"float_inputs", {1}}};
    return confidence_of(training.diagnosis(), "input_scale");
  };
  EXPECT_GT(confidence(40000, 800), 0.8);
  EXPECT_LT(confidence(40000, 0.7), 0.5);
  EXPECT_LT(confidence(40, 800), 0.5);
}

TEST(Wiring, StatesThatAreCutBetweenTheCallsOfAStep) {
  const auto confidence = [](double cut, double loss) {
    TrainingUnderTest training;
    training.loss_at_end = loss;
    training.numbers = {{"handed_states", {11, cut}}};
    return confidence_of(training.diagnosis(), "graph_cut");
  };
  EXPECT_GT(confidence(11, 0.68), 0.8);
  EXPECT_LT(confidence(11, 0.1), 0.5);
  EXPECT_EQ(confidence(0, 0.68), 0);
}

TEST(Data, AFeatureThatIsFilledInForOneClass) {
  const auto confidence = [](double telling, double kind) {
    return confidence_with({{"telling", {telling, 5, kind}}}, "target_leak");
  };
  EXPECT_GT(confidence(0.999, 1), 0.8);
  EXPECT_EQ(confidence(0.95, 1), 0);
  EXPECT_GT(confidence(1, 2), 0.8);
  EXPECT_EQ(confidence(0.999, 2), 0);  // a series goes on as it was
}

TEST(Data, AGoodFeatureInAHandfulOfSamples) {
  const auto confidence = [](double telling, double samples) {
    return confidence_with({{"telling", {telling, 5, 0}}, {"input_shape", {samples, 16}}}, "target_leak");
  };
  EXPECT_GT(confidence(0.987, 64), 0.8);
  EXPECT_EQ(confidence(0.987, 8), 0);
  EXPECT_GT(confidence(1, 8), 0.8);
}

TEST(State, ALimitOnWeightsIsForCriticsAlone) {
  const auto confidence = [](const char* function) {
    TrainingUnderTest training;
    training.optimizer += R"(,{"kind":"Adam","groups":[{"parameters":1,"lr":0.1}]})";
    training.compared = fmt::format(R"({{"function":"{}","predicted":[16],"target":[16],)"
                                    R"("predicted_dtype":"float32","target_dtype":"float32"}})",
                                    function);
    training.numbers = {
        {"calls", {2, 2}}, {"changed_share", {0.5, 0}}, {"changed_outside", {0.1, 0}}, {"changed_edge", {0.01, 0.01}}};
    return confidence_of(training.diagnosis(), "weights_changed_outside_step");
  };
  EXPECT_GT(confidence("BCEWithLogitsLoss"), 0.7);
  EXPECT_GT(confidence("binary_cross_entropy"), 0.7);
  EXPECT_EQ(confidence("mean"), 0);
}

TEST(State, AStateThatASecondTrainingHasLoaded) {
  TrainingUnderTest before, after;
  after.steps = 5;
  after.numbers = {{"training", {1}}};
  after.more = R"(,"loaded":[{"kind":"Net","wanted":10,"missing":9,"unexpected":10,"itself":0,"statistics":0}])";
  TrainingHistory history = before.history();
  EXPECT_EQ(first_cause(diagnose(history)), "");
  after.add_to(history);
  EXPECT_EQ(first_cause(diagnose(history)), "bad_checkpoint");
}

TEST(Modes, OfSeveralTrainingsEachIsJudgedByItsOwnPasses) {
  const auto confidence = [](double rehearsal_in_eval, double in_eval) {
    TrainingUnderTest rehearsal, training;
    rehearsal.steps = training.steps = 80;
    for (TrainingUnderTest* each : {&rehearsal, &training})
      each->modules = R"({"name":"drop","kind":"Dropout","leaf":true,"settings":{"p":0.2}})";
    rehearsal.counts = {80, 80, 80, 80, 0, 0, rehearsal_in_eval, 0, 0, 0, 0};
    TrainingHistory history;
    rehearsal.add_to(history);
    take_record(history, {{"training", {1}}, {"counts", {81, 81, 81, 81, 0, 0, rehearsal_in_eval, 0, 0, 0, 0}}}, 81);
    training.numbers = {{"training", {1}}};
    training.counts = {160, 160, 160, 160, 0, 0, rehearsal_in_eval + in_eval, 0, 0, 0, 0};
    training.add_to(history);
    return confidence_of(diagnose(history), "evaluation_mode_in_training");
  };
  EXPECT_LT(confidence(80, 0), 0.5) << "on purpose, perhaps, and of the one before";
  EXPECT_GT(confidence(0, 40), 0.8);
  EXPECT_GT(confidence(40, 0), 0.8);
}

TEST(Rates, WeightsThatHaveGrownBeforeTheFirstLook) {
  const auto cause = [](bool is_second) {
    TrainingUnderTest before, training;
    TrainingHistory history;
    if (is_second) before.add_to(history);
    training.weight = 80;
    training.loss_at_end = 0.72;
    if (is_second) training.numbers = {{"training", {1}}};
    training.add_to(history);
    return first_cause(diagnose(history));
  };
  EXPECT_EQ(cause(true), "learning_rate_too_high");
  EXPECT_EQ(cause(false), "initialisation_scale");
}

TEST(Generalisation, PlacesInTheBatchAreNoLabels) {
  const auto weight = [](const char* predicted) {
    TrainingUnderTest training;
    training.compared = fmt::format(R"({{"function":"cross_entropy","predicted":{},"target":[48],)"
                                    R"("predicted_dtype":"float32","target_dtype":"int64"}})",
                                    predicted);
    training.numbers = {{"accuracy", {0.2}}, {"eval_after", {1}}, {"eval_calls", {4}}, {"eval_accuracy", {1}}};
    return confidence_of(training.diagnosis(), "label_noise");
  };
  EXPECT_GT(weight("[48,2]"), 0.3);
  EXPECT_EQ(weight("[48,48]"), 0);
  EXPECT_EQ(weight("[48,47]"), 0);
}

TEST(Data, ClassesThatWeighDifferentlyAreMeantToBeRare) {
  const auto confidence = [](double plain) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.loss_at_end = 0.69;
    training.plain_share = plain;
    training.numbers = {{"labels", {99, 1}}, {"top_share", {1}}, {"accuracy", {0.99}}};
    return confidence_of(training.diagnosis(), "class_imbalance");
  };
  EXPECT_GT(confidence(1), 0.5);
  EXPECT_LT(confidence(0.2), 0.5);
}

TEST(Rates, AMomentumThatMakesTheEvaluationSwing) {
  const auto weight = [](double momentum, double late) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.compared = R"({"function":"mse_loss","predicted":[16,1],"target":[16,1],)"
                        R"("predicted_dtype":"float32","target_dtype":"float32"})";
    training.optimizer =
        fmt::format(R"({{"kind":"SGD","groups":[{{"parameters":2,"lr":0.02,"momentum":{}}}]}})", momentum);
    training.steps = 60;
    TrainingHistory history;
    for (const double loss : {0.4, 0.3, late}) {
      training.numbers = {{"eval_after", {loss}}, {"eval_calls", {4}}, {"eval_loss", {loss}}};
      training.add_to(history);
    }
    return confidence_of(diagnose(history), "momentum_too_high");
  };
  EXPECT_GT(weight(0.999, 1.5), 0.8);
  EXPECT_LT(weight(0.99, 0.32), 0.5);
  EXPECT_EQ(weight(0.9, 1.5), 0);
}

TEST(Wiring, AnOptimizerThatIsMadeAnewAndGoneByTheTimeOfTheLook) {
  TrainingUnderTest training;
  for (auto at = training.parameters.find("[0]"); at != std::string::npos; at = training.parameters.find("[0]"))
    training.parameters.replace(at, 3, "[]");
  training.optimizer = "";
  training.steps = 1;
  training.counts = {400, 400, 400, 400, 0, 0, 0, 0, 400, 399};
  EXPECT_EQ(first_cause(training.diagnosis()), "optimizer_recreated");
  training.counts = {400, 400, 400, 400, 0, 0, 0, 0, 0, 0};
  EXPECT_NE(first_cause(training.diagnosis()), "optimizer_recreated");
}

TEST(Wiring, GradientsThatATrainingBeforeHasLeft) {
  const auto cause = [](std::size_t fresh) {
    TrainingUnderTest training;
    training.parameters.replace(training.parameters.find("[0]"), 3, "[]");
    TrainingHistory history;
    for (std::size_t i = 0; i < 12; ++i) {
      training.steps = 5;
      training.gradient = {i < fresh ? 0.1 + 0.01 * static_cast<double>(i) : 0.05, 0.1 + 0.01 * static_cast<double>(i)};
      training.add_to(history);
    }
    return first_cause(diagnose(history));
  };
  EXPECT_EQ(cause(12), "parameters_not_in_optimizer");
  EXPECT_EQ(cause(2), "");
}

TEST(Start, AnswersOfHugeSizeBeforeTheFirstStep) {
  const auto weight = [](double spread, double input, double wanted) {
    TrainingUnderTest training;
    training.weight = 1.4;  // of 4 inputs and of 8
    training.has_labels = false;
    training.numbers = {{"input", {0, input, -3, 3, 0, 0}},
                        {"predicted", {0, spread, -3 * spread, 3 * spread, 0, 0}},
                        {"target", {0, wanted, -wanted, wanted, 0, 0}}};
    return confidence_of(training.diagnosis(), "initialisation_scale");
  };
  EXPECT_GT(weight(10'000, 0.3, 0.3), 0.8);
  EXPECT_EQ(weight(3, 0.3, 0.3), 0);
  EXPECT_EQ(weight(10'000, 900, 0.3), 0);    // its inputs are large
  EXPECT_EQ(weight(10'000, 0.3, 9'000), 0);  // as its targets are
}

TEST(Start, AnActivationOfTheProgramsOwnThatIsSaturated) {
  const auto weight = [](double beyond, double largest) {
    TrainingUnderTest training;
    training.modules = R"({"name":"0","kind":"Steep","leaf":true},{"name":"2","kind":"Linear","leaf":true})";
    training.graph = R"([["Addmm",[1,2],{}],["parameter",[],{"number":1}],["Tanh",[3],{}],["leaf",[],{}]])";
    training.numbers = {{"layers", {0, 0.9, 0, largest, beyond, 0.9, 0.1, 0, 0, 1, 0, 3, 0.2, 0.9, 0.1, 0}}};
    return confidence_of(training.diagnosis(), "saturated_activations");
  };
  EXPECT_GT(weight(0.9, 1), 0.3);
  EXPECT_EQ(weight(0.2, 1), 0);
  EXPECT_EQ(weight(0.9, 2.5), 0);  // it has no bound
}

TEST(Inputs, ANumberThatStandsForAMissingOne) {
  const auto found = [](double lowest, double highest) {
    TrainingUnderTest training;
    training.loss_at_end = 0.72;
    training.numbers = {{"input", {6, 400, lowest, highest, 0, 0}},
                        {"input_peak", {0.8}},
                        {"input_shape", {50, 40}},
                        {"input_scales", {400, 1}}};
    return training.diagnosis();
  };
  EXPECT_EQ(first_cause(found(-2, 18'000)), "bad_samples");
  EXPECT_FALSE(is_told(found(-2, 18'000), "input_scale"));
  EXPECT_LT(confidence_of(found(-300, 18'000), "bad_samples"), 0.5);
}

TEST(Inputs, AnswersAsLargeAsTheInputs) {
  const auto weight = [](double spread) {
    TrainingUnderTest training;
    training.numbers = {{"input", {3'000, 11'000, 0, 80'000, 0, 0}},
                        {"input_scales", {11'000, 1}},
                        {"predicted", {0, spread, -spread, spread, 0, 0}},
                        {"target", {0, 1, -2, 2, 0, 0}}};
    return confidence_of(training.diagnosis(), "input_scale");
  };
  EXPECT_GT(weight(700), 0.8);
  EXPECT_LT(weight(1), 0.5);
}

TEST(Collapse, ADecoderThatHasNothingOfTheCode) {
  const auto cause = [](double same, const char* operation, double later = 0.25) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.compared = R"({"function":"mse_loss","predicted":[16,2],"target":[16,2],)"
                        R"("predicted_dtype":"float32","target_dtype":"float32"})";
    training.loss_at_end = 0.2;
    training.numbers = {{"target_mean", {0, 0}}, {"target_square", {0.25, 0.25}}, {"target_is_input", {same}}};
    training.graph = fmt::format(R"([["Mean",[1],{{}}],["{}",[2],{{}}],["parameter",[],{{"number":0}}]])", operation);
    TrainingHistory history = training.history();
    training.loss_at_start = later;
    training.loss_at_end = 0.25;
    training.steps = 2000;
    training.add_to(history);
    return first_cause(diagnose(history));
  };
  EXPECT_EQ(cause(1, "Exp"), "posterior_collapse");
  EXPECT_NE(cause(0, "Exp"), "posterior_collapse");
  EXPECT_NE(cause(1, "Relu"), "posterior_collapse");
  EXPECT_NE(cause(1, "Exp", 0.7), "posterior_collapse");  // it still falls
}

TEST(Masks, AForecastOfNumbersWithoutACausalMask) {
  const auto confidence = [](int hides, double forecast) {
    TrainingUnderTest training;
    training.graph = fmt::format(
        R"([["ScaledDotProductEfficientAttention",[1],{{"hides":{}}}],["parameter",[],{{"number":0}}]])", hides);
    training.numbers = {{"forecast", {forecast}}, {"input_shape", {16, 28, 1}}};
    return confidence_of(training.diagnosis(), "attention_mask");
  };
  EXPECT_GT(confidence(0, 1), 0.9);
  EXPECT_EQ(confidence(1, 1), 0);
  EXPECT_EQ(confidence(0, 0.1), 0);
}

TEST(Leak, NumbersThatAreTheirOwnTargets) {
  const auto confidence = [](const char* kind, double same) {
    TrainingUnderTest training;
    training.modules =
        fmt::format(R"({{"name":"0","kind":"{}","leaf":true}},{{"name":"2","kind":"Linear","leaf":true}})", kind);
    training.has_labels = false;
    training.compared = R"({"function":"mse_loss","predicted":[16,28],"target":[16,28],)"
                        R"("predicted_dtype":"float32","target_dtype":"float32"})";
    training.numbers = {{"target_mean", {0, 0}},
                        {"target_square", {100, 100}},
                        {"target_is_input", {same}},
                        {"input_shape", {16, 28, 1}}};
    return confidence_of(training.diagnosis(), "target_leak");
  };
  EXPECT_GT(confidence("LSTM", 1), 0.25);
  EXPECT_LT(confidence("LSTM", 0.1), 0.2) << "that it is solved so soon is told, too";
  EXPECT_LT(confidence("Linear", 1), 0.2) << "as an autoencoder";
}

TEST(Start, RecurrentWeightsThatAreTooLarge) {
  const auto cause = [](const char* kind, double weight) {
    TrainingUnderTest training;
    training.modules =
        fmt::format(R"({{"name":"0","kind":"{}","leaf":true}},{{"name":"2","kind":"Linear","leaf":true}})", kind);
    training.parameters.replace(training.parameters.find("0.weight"), 8, "0.weight_hh_l0");
    training.weight = weight;  // from 4 units to 4
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause("RNN", 1.3), "initialisation_scale");
  EXPECT_EQ(cause("RNN", 0.5), "");
  EXPECT_EQ(cause("LSTM", 1.3), "");
}

// Two experts of one shape, whose weights change from look to look by `change`.
Diagnosis of_experts(double other_gradient, double change) {
  TrainingUnderTest training;
  training.parameters = R"({"name":"a.0.weight","shape":[8,4],"dtype":"float32","trainable":true,"optimizers":[0]},)"
                        R"({"name":"a.1.weight","shape":[8,4],"dtype":"float32","trainable":true,"optimizers":[0]})";
  training.gradient = {0.1, other_gradient};
  TrainingHistory history;
  for (int look = 0; look < 8; ++look) {
    const double weight = 0.3 + change * look;
    training.numbers = {{"weight", {weight, weight}}};
    training.add_to(history);
  }
  return diagnose(history);
}

TEST(Start, ModulesThatBeginAsCopiesAndStayCopies) {
  EXPECT_GT(confidence_of(of_experts(0.1, 0.01), "constant_initialisation"), 0.9);
  EXPECT_EQ(confidence_of(of_experts(0.11, 0.01), "constant_initialisation"), 0);
  EXPECT_EQ(confidence_of(of_experts(0.1, 0), "constant_initialisation"), 0);
}

// A program that steps its own tensors, the second of which gets gradients of `gradient`.
Diagnosis own_steps(double gradient, const char* optimizer) {
  TrainingUnderTest training;
  training.modules = "";
  training.parameters = R"({"name":"","shape":[8],"dtype":"float32","trainable":true,"optimizers":[]},)"
                        R"({"name":"","shape":[8,4],"dtype":"float32","trainable":true,"optimizers":[]})";
  training.optimizer = optimizer;
  training.gradient = {0.1, gradient};
  TrainingHistory history;
  for (int look = 0; look < 8; ++look) {
    training.numbers = {{"weight", {0.3 + 0.01 * look, 0.3}}, {"update", {0.01, 0}}};
    training.add_to(history);
  }
  return diagnose(history);
}

TEST(Wiring, OwnTensorsThatNoStepChanges) {
  const char* const none = R"({"kind":"","groups":[]})";
  EXPECT_GT(confidence_of(own_steps(0.2, none), "parameters_not_in_optimizer"), 0.9);
  EXPECT_EQ(confidence_of(own_steps(0, none), "parameters_not_in_optimizer"), 0);
  EXPECT_EQ(own_steps(0.2, none).first()->statement.find("The tensors [8, 4]"), 0u);
}

TEST(Rates, WeightsThatTheFirstStepsThrewAway) {
  const auto confidence = [](double last_weight, double first_update, double late_loss) {
    TrainingUnderTest training;
    training.steps = 100;
    training.loss_at_end = late_loss;
    training.update = first_update;
    TrainingHistory history = training.history();
    training.weight = last_weight;
    training.loss_at_start = late_loss;
    training.add_to(history);
    return confidence_of(diagnose(history), "learning_rate_too_high");
  };
  EXPECT_EQ(confidence(3, 0.3, 0.5), 0.82);
  EXPECT_EQ(confidence(0.5, 0.3, 0.5), 0);  // they stay what they were
  EXPECT_EQ(confidence(3, 0.01, 0.5), 0);   // over many small steps
  EXPECT_EQ(confidence(3, 0.3, 0.05), 0);   // it works
}

}  // namespace
}  // namespace trainwarden::diagnosis
