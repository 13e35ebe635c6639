// What is read off shapes and signs: both sides of each.
#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

TEST(Axes, AViewThatMixesThem) {
  TrainingUnderTest training;
  training.modules = R"({"name":"rnn","kind":"GRU","leaf":true,"place":"/home/me/model.py:3"})";
  const auto exchanged = [&](const char* what) {
    training.more =
        fmt::format(R"(,"exchanged":[{{"from":"emb","to":"rnn","what":"{}","given":[8,5,3],"taken":[5,8,3]}}])", what);
    return training.diagnosis();
  };
  const Diagnosis diagnosis = exchanged("samples");
  ASSERT_EQ(first_cause(diagnosis), "inputs_scrambled");
  EXPECT_EQ(diagnosis.first()->place, "model.py:3");
  EXPECT_NE(diagnosis.first()->statement.find("rnn gets emb with samples mixed up"), std::string::npos);
  EXPECT_EQ(first_cause(exchanged("axes")), "inputs_scrambled");
}

TEST(Signs, ALogLikelihoodWithoutItsMinus) {
  const auto loss = [](const char* root) {
    return cause_of_graph(fmt::format(R"([{},["Mean",[2],{{}}],["LogSigmoid",[3],{{}}],["leaf",[],{{}}]])", root));
  };
  EXPECT_EQ(loss(R"(["Neg",[1],{}])"), "");
  EXPECT_EQ(loss(R"(["Mul",[1],{"factor":-1}])"), "");
  EXPECT_EQ(loss(R"(["Mul",[1],{"factor":0}])"), "");  // as an advantage of either sign
  EXPECT_EQ(loss(R"(["Mul",[1],{"factor":1}])"), "loss_sign");
  EXPECT_EQ(loss(R"(["Mean",[1],{}])"), "loss_sign");
}

TEST(Signs, TheLossOfAPolicyIsNoMeasure) {
  TrainingUnderTest training;
  training.has_labels = false;
  training.compared = "";
  const auto loss = [&](int factor) {
    training.graph =
        fmt::format(R"([["Neg",[1],{{}}],["Mean",[2],{{}}],["Mul",[3],{{"factor":{}}}],["Gather",[4],{{}}],)"
                    R"(["LogSoftmax",[],{{"dim":1,"axes":2}}]])",
                    factor);
    return training.diagnosis().symptoms.is_no_measure;
  };
  EXPECT_TRUE(loss(0));
  EXPECT_FALSE(loss(1));
}

TEST(Signs, APolicyThatUnlearnsWhatHadAnAdvantage) {
  const auto how_sure = [](const char* root, int factor) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.compared = "";
    training.graph = fmt::format(R"([{},["Mean",[2],{{}}],["Mul",[3],{{"factor":{}}}],["Squeeze",[4],{{}}],)"
                                 R"(["Gather",[5],{{}}],["Sub",[6],{{}}],["leaf",[],{{}}]])",
                                 root, factor);
    return confidence_of(training.diagnosis(), "loss_sign");
  };
  EXPECT_GT(how_sure(R"(["Add",[1],{}])", 0), 0.2);
  EXPECT_EQ(how_sure(R"(["Neg",[1],{}])", 0), 0);
  EXPECT_EQ(how_sure(R"(["Add",[1],{}])", -1), 0);
}

TEST(Signs, DistancesThatAreTakenForScores) {
  const auto scores = [](const char* between) {
    return cause_of_graph(
        fmt::format(R"([["NllLoss",[1],{{}}],["LogSoftmax",[2],{{"dim":1,"axes":2}}],{},["Cdist",[],{{}}]])", between));
  };
  EXPECT_EQ(scores(R"(["Neg",[3],{})"
                   "]"),
            "");
  EXPECT_EQ(scores(R"(["Div",[3],{"factor":1}])"), "loss_sign");
}

TEST(Signs, SimilaritiesThatAreNegatedBeforeASoftmax) {
  const auto scores = [](const char* between) {
    return cause_of_graph(fmt::format(R"([["NllLoss",[1],{{}}],["LogSoftmax",[2],{{"dim":1,"axes":2}}],{},)"
                                      R"(["Mm",[4,4],{{}}],["Div",[5,6],{{}}],["Addmm",[],{{}}],["Norm",[],{{}}]])",
                                      between));
  };
  EXPECT_EQ(scores(R"(["Div",[3],{"factor":1}])"), "");
  EXPECT_EQ(scores(R"(["Neg",[3],{}])"), "loss_sign");
}

TEST(Signs, AGeneratorThatHelpsItsDiscriminator) {
  EXPECT_EQ(cause_of_numbers({{"adversary", {1, 0, 0}}}), "loss_sign");
  EXPECT_EQ(cause_of_numbers({{"adversary", {1, 0, 1}}}), "");
  EXPECT_EQ(cause_of_numbers({{"adversary", {std::nan(""), 0, std::nan("")}}}), "");
}

TEST(Signs, AGeneratorThatPullsAlongWithItsDiscriminator) {
  const auto cause = [](Values pulls, bool is_adversarial = true) {
    TrainingUnderTest training;
    if (is_adversarial) {
      training.optimizer += "," + training.optimizer;
      training.numbers = {{"adversary_pull", std::move(pulls)}, {"calls", {2, 4}}};
    }
    return confidence_of(training.diagnosis(), "loss_sign");
  };
  const double none = std::nan("");
  EXPECT_EQ(cause({-0.5, 0.4, -0.3}), 0);
  EXPECT_EQ(cause({-0.5, 0.4, none}), 0);
  EXPECT_EQ(cause({-0.5, -0.4, -0.3}), 0) << "no discriminator";
  EXPECT_GT(cause({-0.5, 0.4, 0.3}), 0.8);
  EXPECT_GT(cause({0.5, -0.4, -0.3}), 0.8) << "a critic that counts the other way round";
}

TEST(Tokens, AModelThatIsFedItsAnswers) {
  EXPECT_EQ(cause_of_numbers({{"fed", {1, 0.1}}}), "target_leak");
  EXPECT_EQ(cause_of_numbers({{"fed", {1, 0.95}}}), "");  // its encoder is, as that of an autoencoder
  EXPECT_EQ(cause_of_numbers({{"fed", {0.2, 0.95}}}), "");
}

TEST(Shapes, AColumnAndARowInALossOfOnesOwn) {
  const auto loss = [](const char* between, const char* operand) {
    TrainingUnderTest training;
    training.compared = "";
    training.parameters.replace(training.parameters.find("[8,4]"), 5, "[1,4]");
    training.graph =
        fmt::format(R"([["Mean",[1],{{"sizes":[16,16]}}],["Pow",[2],{{"exponent":2}}],["Sub",[3],{{}}],{},)"
                    R"({},["parameter",[],{{"number":0}}],["Sum",[],{{"sizes":[16,3]}}]])",
                    between, operand);
    return first_cause(training.diagnosis());
  };
  const char* const linear = R"(["Addmm",[5],{}])";
  EXPECT_EQ(loss(R"(["View",[4],{"sizes":[16,1]}])", linear), "shapes_broadcast_in_loss");
  EXPECT_EQ(loss(R"(["Unsqueeze",[4],{"dim":1}])", linear), "");                // on purpose
  EXPECT_EQ(loss(R"(["View",[4],{"sizes":[16,16]}])", R"(["Mm",[],{}])"), "");  // each with each, as well
}

TEST(Shapes, AColumnOfPickedAnswersAndARow) {
  const auto loss = [](const char* picked) {
    TrainingUnderTest training;
    training.compared = "";
    training.graph = fmt::format(
        R"([["Mean",[1],{{"sizes":[64,64]}}],["Pow",[2],{{"exponent":2}}],["Sub",[3],{{}}],{},["parameter",[],{{"number":0}}]])",
        picked);
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(loss(R"(["Gather",[4],{"dim":1}])"), "shapes_broadcast_in_loss");  // the batches that were seen are of 16
  EXPECT_EQ(loss(R"(["Gather",[4],{"dim":0}])"), "");
  EXPECT_EQ(loss(R"(["Relu",[4],{}])"), "");  // it may have 64 columns
}

TEST(Shapes, ARatioOfPoliciesAndAColumnOfAdvantages) {
  const auto loss = [](const char* old) {
    TrainingUnderTest training;
    training.compared = "";
    training.graph = fmt::format(
        R"([["Mean",[1],{{"sizes":[16,16]}}],["Minimum",[2],{{}}],["Mul",[3],{{}}],["Exp",[4],{{}}],["Sub",[5],{{}}],)"
        R"({},["parameter",[],{{"number":0}}]])",
        old);
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(loss(R"(["Squeeze",[6],{"dim":-1,"sizes":[16,1]}])"), "shapes_broadcast_in_loss");
  EXPECT_EQ(loss(R"(["Unsqueeze",[6],{"dim":1}])"), "");  // on purpose
}

TEST(Shapes, ASoftmaxOfASigmoid) {
  const auto scores = [](const char* before) {
    return cause_of_graph(fmt::format(R"([["Mean",[1],{{}}],["Softmax",[2],{{"dim":1,"axes":2}}],["{}",[3],{{}}],)"
                                      R"(["leaf",[],{{}}]])",
                                      before));
  };
  EXPECT_EQ(scores("Sigmoid"), "output_activation");
  EXPECT_EQ(scores("Tanh"), "");
}

TEST(Wiring, ParametersThatAreFrozenAndNeverLetGo) {
  TrainingUnderTest training;
  training.steps = 20;
  TrainingHistory history = training.history();
  training.parameters.replace(training.parameters.rfind("true"), 4, "false");
  training.gradient = {0.1, 0};
  training.steps = 200;
  training.add_to(history);
  const Diagnosis diagnosis = diagnose(history);
  ASSERT_EQ(first_cause(diagnosis), "frozen_parameters");
  EXPECT_NE(diagnosis.first()->statement.find("2.weight have been frozen since step"), std::string::npos);
  const Diagnosis never = training.diagnosis();  // it never had any: perhaps on purpose
  EXPECT_TRUE(never.first() == nullptr || never.first()->statement.find("since step") == std::string::npos);
}

TEST(State, OneThatIsLoadedAndIsTheModelItself) {
  TrainingUnderTest training;
  const auto loaded = [&](int itself) {
    training.more =
        fmt::format(R"(,"loaded":[{{"kind":"Net","wanted":4,"missing":0,"unexpected":0,"itself":{}}}])", itself);
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(loaded(4), "bad_checkpoint");
  EXPECT_EQ(loaded(1), "");  // one that is shared on purpose
  EXPECT_EQ(loaded(0), "");
}

TEST(Modes, RandomNumbersInEvaluationMode) {
  const auto random = [](double moved, double repeats, bool drops = true) {
    TrainingUnderTest training;
    if (drops) training.places = R"(,"dropout":"/home/me/train.py:9")";
    training.numbers = {{"eval_after", {1}}, {"eval_calls", {4}}, {"eval_random", {4, moved, repeats}}};
    const Diagnosis diagnosis = training.diagnosis();
    return diagnosis.first() == nullptr ? 0 : diagnosis.first()->confidence;
  };
  EXPECT_GT(random(4, 0), 0.8);
  EXPECT_LT(random(4, 3), 0.5);  // the answers are averaged
  EXPECT_EQ(random(0, 0), 0);
  EXPECT_LT(random(4, 0, false), 0.5);  // it may draw samples
}

TEST(Modes, RunningStatisticsThatLagBehind) {
  const auto norms = [](double far, double ratio, double momentum) {
    TrainingUnderTest training;
    training.modules = fmt::format(R"({{"name":"0","kind":"Linear","leaf":true}},)"
                                   R"({{"name":"2","kind":"BatchNorm1d","leaf":true,"settings":{{"momentum":{}}}}})",
                                   momentum);
    training.numbers = {{"norms", {std::nan(""), std::nan(""), far, ratio}}};
    const Diagnosis diagnosis = training.diagnosis();
    return diagnosis.first() != nullptr && diagnosis.first()->cause == "batch_norm_statistics"
               ? diagnosis.first()->confidence
           : is_told(diagnosis, "batch_norm_statistics") ? 0.1
                                                         : 0;
  };
  EXPECT_GT(norms(1.5, 0, 0.001), 0.8);
  EXPECT_GT(norms(0, 2, 0.001), 0.8);
  EXPECT_LT(norms(1.5, 0, 0.1), 0.5);
  EXPECT_EQ(norms(0.2, 0.2, 0.001), 0);
}

TEST(State, AStateWithoutRunningStatistics) {
  TrainingUnderTest training;
  const auto loaded = [&](int missing, int statistics) {
    training.more =
        fmt::format(R"(,"loaded":[{{"kind":"Net","wanted":9,"missing":{},"unexpected":0,"itself":0,"statistics":{}}}])",
                    missing, statistics);
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(loaded(3, 3), "bad_checkpoint");
  EXPECT_EQ(loaded(5, 3), "");  // a backbone, perhaps, whose head is another one
  EXPECT_EQ(loaded(0, 0), "");
}

TEST(State, MomentsThatAreLeftInTheCheckpoint) {
  const auto with = [](int given, bool fits, double momentum) {
    TrainingUnderTest training;
    training.optimizer =
        fmt::format(R"({{"kind":"SGD","groups":[{{"parameters":2,"lr":0.1,"momentum":{}}}]}})", momentum);
    training.more = fmt::format(R"(,"loaded":[{{"kind":"Net","wanted":2,"missing":0,"unexpected":0,"itself":0}}],)"
                                R"("resumed":{{"optimizers":1,"given":{},"fits":{}}})",
                                given, fits);
    const Diagnosis diagnosis = training.diagnosis();
    return diagnosis.first() == nullptr ? "" : diagnosis.first()->cause;
  };
  EXPECT_EQ(with(0, true, 0.9), "bad_checkpoint");
  EXPECT_EQ(with(1, true, 0.9), "");
  EXPECT_EQ(with(0, false, 0.9), "");  // a possibility only
  EXPECT_EQ(with(0, true, 0), "");
}

TEST(Rates, AWarmUpThatNeverEnds) {
  TrainingUnderTest training;
  training.optimizer = R"({"kind":"SGD","groups":[{"parameters":2,"lr":0.002,"initial_lr":0.1,"momentum":0}]})";
  training.loss_at_end = 0.69;
  TrainingHistory history = training.history();
  for (std::int64_t step = 0; step < 200; step += 5)
    history.take_signal("learning_rate/0", 1e-5 * static_cast<double>(step), step);
  EXPECT_EQ(first_cause(diagnose(history)), "learning_rate_schedule");
}

TEST(Rates, AnotherOptimizerHasARateOfItsOwn) {
  const auto confidence = [](double optimizers_made, bool jumps) {
    TrainingUnderTest training;
    training.loss_at_end = 0.6;
    training.counts = {200, 200, 200, 200, 0, 0, 0, 0, 0, optimizers_made};
    TrainingHistory history = training.history();
    for (std::int64_t step = 0; step < 200; step += 5)
      history.take_signal("learning_rate/0", step < 50 ? (jumps ? 0.1 : 0.1 / (1 + static_cast<double>(step))) : 1e-5,
                          step);
    return confidence_of(diagnose(history), "learning_rate_schedule");
  };
  EXPECT_GT(confidence(0, true), 0.5);
  EXPECT_EQ(confidence(1, true), 0);
  EXPECT_GT(confidence(1, false), 0.5);
}

TEST(Rates, UpdatesThatAreLostLater) {
  const auto confidence = [](const char* kind, double late_share, double late_rate) {
    TrainingUnderTest training;
    for (std::size_t at = training.parameters.find("float32"); at != std::string::npos;
         at = training.parameters.find("float32"))
      training.parameters.replace(at, 7, "bfloat16");
    training.optimizer = fmt::format(R"({{"kind":"{}","groups":[{{"parameters":2,"lr":0.001}}]}})", kind);
    training.loss_at_end = 0.4;
    training.update = 0.01;
    training.steps = 100;
    training.numbers = {{"update_share", {0.7, 0.7}}, {"rate", {0.001}}};
    TrainingHistory history = training.history();
    for (double step = 100; step < 160; step += 10) {
      history.take_text(
          "examination/layout",
          R"({"layout":[["gradient",2],["update_share",2],["rate",1],["step",1],["look_steps",1],["looks",1]]})");
      history.take_numbers(Values{0.1, 0.1, late_share, late_share, late_rate, step, step, 0.4},
                           static_cast<std::int64_t>(step));
    }
    return confidence_of(diagnose(history), "updates_lost_to_rounding");
  };
  EXPECT_GT(confidence("Adam", 0.05, 0.001), 0.8);
  EXPECT_EQ(confidence("Adam", 0.6, 0.001), 0);
  EXPECT_EQ(confidence("Adam", 0.05, 0.0001), 0);  // the schedule has made them small
  EXPECT_EQ(confidence("SGD", 0.05, 0.001), 0);    // gradients are small at the end
}

TEST(Rates, ADecayThatAdamTakesForGradients) {
  TrainingUnderTest training;
  const auto with = [&](const char* kind) {
    training.optimizer =
        fmt::format(R"({{"kind":"{}","groups":[{{"parameters":2,"lr":0.001,"weight_decay":0.01}}]}})", kind);
    training.gradient = {0.001, 0.001};
    training.loss_at_end = 0.6;
    training.steps = 100;
    TrainingHistory history = training.history();
    training.weight = 0.1;
    training.add_to(history);
    return is_told(diagnose(history), "weight_decay_too_strong");
  };
  EXPECT_TRUE(with("Adam"));
  EXPECT_FALSE(with("AdamW"));
}

TEST(Wiring, OneLookAtAFormerModelIsNoForgottenParameter) {
  TrainingUnderTest training;
  training.parameters.replace(training.parameters.rfind("[0]"), 3, "[]");
  TrainingHistory many = training.history();
  EXPECT_EQ(first_cause(diagnose(many)), "parameters_not_in_optimizer");
  TrainingUnderTest before;
  before.gradient = {0.1};
  before.parameters = R"({"name":"0.weight","shape":[8,4],"dtype":"float32","trainable":true,"optimizers":[0]})";
  TrainingHistory once = before.history();
  training.steps = 5;  // one look
  training.add_to(once);
  EXPECT_FALSE(is_told(diagnose(once), "parameters_not_in_optimizer"));
}

TEST(Collapse, EmbeddingsThatShrinkToOneUnderALossOfPositivePairs) {
  const auto layers = [](double cosine, double spread) {
    TrainingUnderTest training;
    training.compared = "";
    training.has_labels = false;  // so that no constant answer is known
    training.modules = R"({"name":"0","kind":"Linear","leaf":true,"settings":{"out_features":8}},)"
                       R"({"name":"2","kind":"Linear","leaf":true,"settings":{"out_features":8}})";
    training.steps = 10;
    training.loss_at_end = 0.4;
    const Values row = {0, 1, 0, 1, 0, 0.5, 0.5, 0};
    const auto with = [&](double cosine_now, double spread_now) {
      Values both = row;
      both.insert(both.end(), {0, 1, 0, 1, 0, spread_now, cosine_now, 0});
      training.numbers = {{"layers", both}};
    };
    with(0.9, 0.3);
    TrainingHistory history = training.history();
    with(cosine, spread);
    training.steps = 200;
    training.loss_at_end = -0.2;
    training.add_to(history);
    return is_told(diagnose(history), "representation_collapse");
  };
  EXPECT_TRUE(layers(0.9995, 0.01));
  EXPECT_FALSE(layers(0.95, 0.2));
}

TEST(Reduction, ASumThatIsDividedIsNone) {
  const auto is_a_sum = [](const char* root) {
    TrainingUnderTest training;
    training.loss_at_end = 0.65;  // learns little: why?
    training.graph = fmt::format(
        R"([{},["View",[2],{{}}],["BinaryCrossEntropyWithLogits",[3],{{"reduction":2}}],["leaf",[],{{}}]])", root);
    return is_told(training.diagnosis(), "loss_reduction");
  };
  EXPECT_TRUE(is_a_sum(R"(["Add",[1,3],{}])"));
  EXPECT_FALSE(is_a_sum(R"(["Div",[1],{"factor":1}])"));
  EXPECT_FALSE(is_a_sum(R"(["Mul",[1],{"factor":1}])"));
}

TEST(Graph, ADivergenceOfProbabilities) {
  // As kl_div() is put together: the log of the target, less the product of target and input, summed up.
  const auto cause = [](const char* input, int factor) {
    return cause_of_graph(fmt::format(R"([["Div",[1],{{}}],["Sum",[2],{{}}],["Sub",[3],{{}}],)"
                                      R"(["Mul",[4],{{"factor":{}}}],["{}",[5],{{}}],["leaf",[],{{}}]])",
                                      factor, input));
  };
  EXPECT_EQ(cause("Softmax", 1), "wrong_loss_function");
  EXPECT_EQ(cause("LogSoftmax", 1), "");
  EXPECT_EQ(cause("Softmax", 0), "");  // by weights of either sign
  EXPECT_EQ(cause_of_graph(R"([["KlDiv",[1],{}],["Softmax",[2],{}],["leaf",[],{}]])"), "wrong_loss_function");
}

TEST(Axes, AnAttentionThatGetsTheSamplesAsItsPlaces) {
  const auto cause = [](const char* batch_first, int places, double tokens) {
    TrainingUnderTest training;
    training.modules += fmt::format(
        R"(,{{"name":"a","kind":"MultiheadAttention","leaf":false,"settings":{{"batch_first":{}}}}})", batch_first);
    training.graph = fmt::format(R"([["Softmax",[1],{{"dim":-1,"axes":3,"queries":{0},"keys":{0},"peak":0.1}}],)"
                                 R"(["leaf",[],{{}}]])",
                                 places);
    training.numbers = {{"symbols", {tokens, 9, 0.3}}};
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause("false", 16, 320), "inputs_scrambled");
  EXPECT_EQ(cause("false", 20, 320), "");  // 16 samples of 20 tokens: it looks at those
  EXPECT_EQ(cause("true", 16, 320), "");
  EXPECT_EQ(cause("false", 16, 256), "");  // as many tokens as samples
}

TEST(Signs, PlayersThatPullInTheSameDirection) {
  const auto cause = [](double loss, bool has_two) {
    TrainingUnderTest training;
    training.compared = "";
    training.has_labels = false;
    training.loss_at_end = 0.6;
    training.steps = 50;
    if (has_two) training.optimizer += R"(,{"kind":"Adam","groups":[{"parameters":1,"lr":0.1}]})";
    training.numbers = {{"calls", {2, 2}}};
    TrainingHistory history = training.history();
    training.loss_at_end = loss;
    training.steps = 400;
    training.add_to(history);
    return confidence_of(diagnose(history), "loss_sign");
  };
  EXPECT_EQ(cause(-5000, true), 0.8);
  EXPECT_EQ(cause(-20, true), 0);
}

TEST(Axes, HeadsThatAViewCuts) {
  const auto cause = [](const char* taken, const char* given) {
    return cause_of_graph(fmt::format(
        R"([["Bmm",[1,1],{{}}],["Expand",[2],{{"sizes":{}}}],["View",[3],{{"sizes":{}}}],["leaf",[],{{}}]])", taken,
        given));
  };
  EXPECT_EQ(cause("[32,4,15,10]", "[32,15,40]"), "inputs_scrambled");
  EXPECT_EQ(cause("[32,15,4,10]", "[32,15,40]"), "");    // heads after the places: a transpose follows
  EXPECT_EQ(cause("[32,15,15,10]", "[32,15,150]"), "");  // as many heads as places: shapes do not tell
  EXPECT_EQ(cause_of_graph(R"([["ScaledDotProductFlashAttentionForCpu",[1],{"sizes":[32,4,15,10]}],)"
                           R"(["View",[2],{"sizes":[32,15,40]}],["leaf",[],{}]])"),
            "inputs_scrambled");
}

TEST(Axes, BatchesOfOneSizeWhoseLongestSequenceIsNot) {
  TrainingUnderTest training;
  training.steps = 10;
  training.compared =
      R"({"function":"nll_loss","predicted":[480,2],"target":[480],"predicted_dtype":"float32","target_dtype":"int64"})";
  TrainingHistory fixed, varying;
  for (const double length : {30, 24, 19}) {
    training.numbers = {{"recurrent_axes", {0, 16, length}}};
    training.add_to(varying);
    training.numbers = {{"recurrent_axes", {0, length, 16}}};  // time is first
    training.add_to(fixed);
  }
  EXPECT_TRUE(is_told(diagnose(varying), "inputs_scrambled"));
  EXPECT_FALSE(is_told(diagnose(fixed), "inputs_scrambled"));
}

TEST(Axes, ChannelsOfNoisyImages) {
  const auto cause = [](Values neighbours, double channels) {
    TrainingUnderTest training;
    training.numbers = {{"neighbours", std::move(neighbours)}, {"input_shape", {16, channels, 18, 18}}};
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause({-0.05, -0.14, 0.19, -0.03}, 3), "inputs_scrambled");
  EXPECT_EQ(cause({-0.05, -0.14, 0.19, -0.03}, 4), "");  // a pattern of its own
  EXPECT_EQ(cause({-0.05, 0.15, 0.19, 0.12}, 3), "");
  EXPECT_EQ(cause({0.1, 0.4, 0.6, 0.4}, 3), "inputs_scrambled");
  EXPECT_EQ(cause({0.56, 0.4, 0.78, 0.4}, 1), "");  // a texture that repeats itself
  EXPECT_EQ(cause({0.56, 0.4, 0.78, 0.4, 0.7}, 3), "");
  EXPECT_EQ(cause({0.56, 0.4, 0.78, 0.4, 0.1}, 3), "inputs_scrambled");
  EXPECT_EQ(cause({0.53, 0.46, 0.57, 0.34, 0.03}, 3), "inputs_scrambled");
  EXPECT_EQ(cause({0.53, 0.46, 0.57, 0.34, 0.4}, 3), "");
}

TEST(Signs, AnOverlapThatIsMinimised) {
  const auto cause = [](const char* before) {
    return cause_of_graph(fmt::format(
        R"([{},["Div",[2,3],{{}}],["Add",[4],{{}}],["Add",[5],{{}}],["Mul",[6],{{"factor":1}}],["Sum",[8],{{}}],)"
        R"(["Sum",[7],{{}}],["Mul",[8],{{"factor":1}}],["Sigmoid",[9],{{}}],["leaf",[],{{}}]])",
        before));
  };
  EXPECT_EQ(cause(R"(["Mean",[1],{}])"), "loss_sign");
  EXPECT_EQ(cause(R"(["Rsub",[1],{}])"), "");  // 1 - overlap
  EXPECT_EQ(cause_of_graph(R"([["Div",[1,2],{}],["Sum",[3],{}],["Sum",[4],{}],["Sigmoid",[5],{}],["Sigmoid",[5],{}],)"
                           R"(["leaf",[],{}]])"),
            "");  // a share of one of the other
}

TEST(Shapes, ACubeOfPairs) {
  const auto cause = [](const char* between) {
    TrainingUnderTest training;
    training.compared = "";
    training.graph = fmt::format(
        R"([["Mean",[1],{{"sizes":[16,16,16]}}],["Mul",[2],{{"factor":1}}],["{}",[3],{{}}],["Mm",[4,5],{{"sizes":[16,8]}}],)"
        R"(["leaf",[],{{}}],["leaf",[],{{}}]])",
        between);
    training.numbers = {{"input_shape", {16, 4}}};
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause("Sqrt"), "shapes_broadcast_in_loss");
  EXPECT_EQ(cause("Unsqueeze"), "");  // triplets, on purpose
}

TEST(Loss, ARateOfWhichTheExponentialIsTaken) {
  const auto cause = [](const char* function, const char* before) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.compared = fmt::format(
        R"({{"function":"{}","predicted":[16],"target":[16],"predicted_dtype":"float32","target_dtype":"float32"}})",
        function);
    training.graph =
        fmt::format(R"([["Mean",[1],{{"sizes":[16]}}],["Exp",[2],{{}}],["{}",[3],{{}}],["leaf",[],{{}}]])", before);
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause("PoissonNLLLoss", "Softplus"), "output_activation");
  EXPECT_EQ(cause("PoissonNLLLoss", "Addmm"), "");
  EXPECT_EQ(cause("GaussianNLLLoss", "Softplus"), "");
}

TEST(Axes, ThePlaceBehindTheEndOfASequence) {
  const auto cause = [](const char* kind, double share) {
    TrainingUnderTest training;
    training.modules += fmt::format(R"(,{{"name":"r","kind":"{}","leaf":true}})", kind);
    training.numbers = {{"empty_rows", {share}}};
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause("GRU", 0.6), "inputs_scrambled");
  EXPECT_EQ(cause("GRU", 0.02), "");
  EXPECT_EQ(cause("Embedding", 0.6), "");  // bags that are empty
}

TEST(Axes, StatesOfSeveralSamplesInARow) {
  const auto cause = [](const char* state) {  // 16 samples, a layer of 4 inputs
    return cause_of_graph(
        fmt::format(R"([["Addmm",[1,2,3],{{}}],["parameter",[],{{"number":1}}],["View",[4],{{"sizes":{}}}],)"
                    R"(["T",[5],{{}}],["Stack",[],{{"dim":0}}],["parameter",[],{{"number":0}}]])",
                    state));
  };
  EXPECT_EQ(cause("[2,16,2]"), "inputs_scrambled");
  EXPECT_EQ(cause("[16,2,2]"), "");
  EXPECT_EQ(cause("[1,16,4]"), "");
}

TEST(OutputActivation, ASoftmaxBeforeADistributionOfLogits) {
  const auto cause = [](const char* before) {
    return cause_of_graph(fmt::format(
        R"([["Mean",[1],{{}}],["Gather",[2],{{}}],["Sub",[3,4],{{}}],["{}",[5],{{}}],["Logsumexp",[3],{{}}],["leaf",[],{{}}]])",
        before));
  };
  EXPECT_EQ(cause("Softmax"), "output_activation");
  EXPECT_EQ(cause("Tanh"), "");
}

}  // namespace
}  // namespace trainwarden::diagnosis
