// What waves of programs by people who had not read the detectors have shown: faults that were missed, and habits that
// were taken for faults.
#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

TrainingUnderTest regression() {
  TrainingUnderTest training;
  training.has_labels = false;
  training.compared =
      R"({"function":"mse_loss","predicted":[16,4],"target":[16,4],"predicted_dtype":"float32","target_dtype":"float32"})";
  return training;
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
    TrainingUnderTest training = regression();
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
    TrainingUnderTest training = regression();
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

// Batches of 16 samples of which so many are different, out of so many in all, and an evaluation of 40.
std::string cause_of_samples(int in_a_batch, int in_all) {
  TrainingHistory history;
  for (int look = 0; look < 10; ++look) {
    TrainingUnderTest training;
    training.steps = 5;
    Values rows, evaluated;
    for (int i = 0; i < 16; ++i) rows.push_back(0.5 + (look * in_a_batch + i % in_a_batch) % in_all);
    for (int i = 0; i < 40; ++i) evaluated.push_back(100.5 + i);
    training.numbers = {{"row_prints", rows},
                        {"input_shape", {16, 4}},
                        {"eval_after", {5.0 * look}},
                        {"eval_calls", {1}},
                        {"eval_rows", evaluated}};
    training.add_to(history);
  }
  return first_cause(diagnose(history));
}

TEST(Data, FewSamplesThatAreDrawnAgainAndAgain) {
  EXPECT_EQ(cause_of_samples(2, 2), "same_batch_repeated");
  EXPECT_EQ(cause_of_samples(1, 300), "constant_inputs");  // one array, kept many times
  EXPECT_EQ(cause_of_samples(16, 300), "");
  EXPECT_EQ(cause_of_samples(8, 8), "");  // all there are, perhaps
}

// Frozen while the optimizer was made of what is trained, and let loose after: it stays as it is.
TEST(Wiring, WhatIsLetLooseTooLateIsInNoOptimizer) {
  const auto cause = [](bool is_frozen, const char* optimizers) {
    const auto parameter = [&](bool is_trainable, const char* of) {
      return fmt::format(R"({{"name":"0.weight","shape":[8,4],"dtype":"float32","trainable":{},"optimizers":{}}},)"
                         R"({{"name":"2.weight","shape":[2,8],"dtype":"float32","trainable":true,"optimizers":[0]}})",
                         is_trainable, of);
    };
    TrainingUnderTest frozen, loose;
    frozen.gradient = {-1, 0.1}, frozen.parameters = parameter(!is_frozen, "[]"), frozen.steps = 100;
    loose.steps = 5, loose.parameters = parameter(true, optimizers);
    TrainingHistory history = frozen.history();
    loose.add_to(history);
    return first_cause(diagnose(history));
  };
  EXPECT_EQ(cause(true, "[]"), "parameters_not_in_optimizer");
  EXPECT_NE(cause(true, "[0]"), "parameters_not_in_optimizer") << "given to it when it was let loose";
}

TEST(Axes, ASoftmaxOverTheColumnsOfAnImage) {
  const auto cause = [](int dim, const char* from) {
    return cause_of_graph(fmt::format(
        R"([["Mean",[1],{{"sizes":[3]}}],["Sum",[2],{{"sizes":[16,3,32,32]}}],["Softmax",[3],{{"dim":{},"axes":4,"queries":32,"keys":32}}],)"
        R"(["{}",[4],{{}}],["leaf",[],{{}}]])",
        dim, from));
  };
  EXPECT_EQ(cause(-1, "Convolution"), "softmax_dimension");
  EXPECT_EQ(cause(1, "Convolution"), "");
  EXPECT_EQ(cause(-1, "Div"), "");  // scores of an attention
}

TEST(Wiring, AModuleWasToldToWantGradients) {
  const auto cause = [](bool is_set, bool is_frozen) {
    TrainingUnderTest training;
    training.modules =
        fmt::format(R"({{"name":"stem","kind":"Sequential","leaf":false{}}},{{"name":"stem.0","kind":"Linear",
        "leaf":true}},{{"name":"head","kind":"Linear","leaf":true}})",
                    is_set ? R"(,"settings":{"asks_for_gradients":true})" : "");
    training.parameters = fmt::format(
        R"({{"name":"stem.0.weight","shape":[8,8],"dtype":"float32","trainable":{},"optimizers":[0]}},
           {{"name":"head.weight","shape":[8,8],"dtype":"float32","trainable":true,"optimizers":[0]}})",
        is_frozen ? "false" : "true");
    training.gradient = {is_frozen ? -1.0 : 0.1, 0.1};
    return confidence_of(training.diagnosis(), "frozen_parameters");
  };
  EXPECT_GT(cause(true, true), 0.9);
  EXPECT_LT(cause(false, true), 0.5);
  EXPECT_EQ(cause(true, false), 0);
}

TEST(State, TheWorstOfAllEvaluationsIsLoaded) {
  const auto confidence = [](double loaded, Values losses) {
    TrainingUnderTest training;
    TrainingHistory history = training.history();
    double step = 0;
    for (const double loss : losses) {
      step += 40;
      Numbers numbers = {{"step", {step}}, {"eval_after", {step}}, {"eval_calls", {1}}, {"eval_loss", {loss}}};
      if (step == 40 * static_cast<double>(losses.size())) numbers.push_back({"eval_loaded", {loaded}});
      take_record(history, numbers, static_cast<std::int64_t>(step));
    }
    return confidence_of(diagnose(history), "bad_checkpoint");
  };
  EXPECT_GT(confidence(0.68, {0.66, 0.5, 0.3, 0.25}), 0.8);
  EXPECT_EQ(confidence(0.26, {0.66, 0.5, 0.3, 0.25}), 0) << "the best one";
  EXPECT_EQ(confidence(0.68, {0.66, 0.3, 0.5, 0.6}), 0) << "the training has got worse itself";
  EXPECT_EQ(confidence(0.3, {0.3, 0.28, 0.27, 0.25}), 0) << "all are alike";
  EXPECT_EQ(confidence(1.5, {0.66, 0.5, 0.3, 0.25}), 0) << "other data, perhaps";
}

TEST(Start, LayersThatNormaliseMultiplyWithZero) {
  const auto confidence = [](double first, double second, double learned) {
    TrainingUnderTest training;
    training.modules = R"({"name":"0","kind":"Linear","leaf":true},{"name":"1","kind":"BatchNorm1d","leaf":true},)"
                       R"({"name":"2","kind":"BatchNorm1d","leaf":true})";
    training.parameters = R"({"name":"0.weight","shape":[8,4],"dtype":"float32","trainable":true,"optimizers":[0]},)"
                          R"({"name":"1.weight","shape":[8],"dtype":"float32","trainable":true,"optimizers":[0]},)"
                          R"({"name":"2.weight","shape":[8],"dtype":"float32","trainable":true,"optimizers":[0]})";
    training.gradient = {0, 0, 0};
    training.steps = 1;
    const Values updates = {0.001, 0, 0};
    training.numbers = {{"weight", {0.3, first, second}}, {"unit_spread", {0.5, -1, -1}}, {"update", updates}};
    TrainingHistory history = training.history();
    training.steps = 200;
    training.numbers = {{"weight", {0.3, learned, learned}}, {"update", updates}};
    TrainingHistory whole;
    training.add_to(whole);
    history.snapshots.insert(history.snapshots.end(), whole.snapshots.begin(), whole.snapshots.end());
    return confidence_of(diagnose(history), "constant_initialisation");
  };
  EXPECT_GT(confidence(0, 0, 0), 0.9);
  EXPECT_EQ(confidence(1, 0, 0), 0) << "the last one of a branch";
  EXPECT_EQ(confidence(0, 0, 0.1), 0);
  EXPECT_EQ(confidence(1, 1, 1), 0);
}

TEST(Inputs, MostSamplesAreOne) {
  const auto confidence = [](Values prints, double loss_at_end) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.loss_at_end = loss_at_end;
    training.numbers = {
        {"row_prints", std::move(prints)}, {"input_shape", {8, 1, 4, 4}}, {"float_inputs", {1}}, {"labels", {8, 8}}};
    return confidence_of(training.diagnosis(), "constant_inputs");
  };
  const Values most = {3, 3, 3, 3, 3, 3, 1, 2}, few = {3, 3, 3, 4, 5, 6, 1, 2};
  EXPECT_GT(confidence(most, 0.69), 0.8);
  EXPECT_EQ(confidence(most, 0.1), 0) << "it is enough to learn from";
  EXPECT_EQ(confidence(few, 0.69), 0);
  EXPECT_EQ(confidence({3, 3, 3}, 0.69), 0);
}

// A probe is gone when its gradients are still there.
TEST(Wiring, WhatAnOptimizerOnceHadIsNotForgotten) {
  const auto confidence = [](const char* before) {
    TrainingUnderTest training;
    TrainingHistory history;
    const std::string all = training.parameters;
    training.parameters.replace(training.parameters.rfind("[0]"), 3, before);
    training.steps = 1;
    training.add_to(history);
    training.parameters = all;
    training.parameters.replace(training.parameters.rfind("[0]"), 3, "[]");
    training.numbers = {{"update", {0.001, 0}}};
    training.steps = 1;
    history.snapshots.clear();
    training.add_to(history);
    return confidence_of(diagnose(history), "parameters_not_in_optimizer");
  };
  EXPECT_GT(confidence("[]"), 0.8);
  EXPECT_EQ(confidence("[0]"), 0);
}

}  // namespace
}  // namespace trainwarden::diagnosis
