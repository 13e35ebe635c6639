// What a training makes of samples that it has never seen, and what else the faults of a wave of everyday programs
// need.
#include <gtest/gtest.h>

#include <functional>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

using StepNumbersOf = std::function<Numbers(std::int64_t)>;

// A training of which each full examination has numbers of its own.
TrainingHistory history_of(const StepNumbersOf& numbers, std::int64_t steps, std::int64_t every = 5) {
  TrainingUnderTest training;
  training.steps = 1;  // structure, and one examination
  TrainingHistory history = training.history();
  for (std::int64_t step = every; step < steps; step += every) {
    Numbers all = numbers(step);
    all.insert(all.end(), {{"step", {static_cast<double>(step)}},
                           {"gradient", {0.1, 0.1}},
                           {"weight", {0.3, 0.3}},
                           {"update", {0.001, 0.001}},
                           {"counts", {200, 200, 200, 200, 0, 0, 0, 0, 0, 0}}});
    take_record(history, all, step);
  }
  return history;
}

// Learns from 0.7 to 0.1 within 40 steps, of samples that come again after 60, and is evaluated each 40 steps.
TrainingHistory evaluated(double accuracy, bool are_new) {
  return history_of(
      [&](std::int64_t step) {
        const double loss = std::max(0.1, 0.7 - 0.015 * static_cast<double>(step));
        const double sample = static_cast<double>(are_new ? step % 60 : 1);
        Numbers numbers = {{"loss", {loss}},
                           {"compared_loss", {loss}},
                           {"look_steps", {static_cast<double>(step)}},
                           {"looks", {loss}},
                           {"accuracy", {loss < 0.3 ? 0.95 : 0.5}},
                           {"labels", {8, 8}},
                           {"row_prints", {sample, sample + 0.5}}};
        if (step % 40 == 0) {
          numbers.insert(
              numbers.end(),
              {{"eval_after", {static_cast<double>(step)}}, {"eval_calls", {1}}, {"eval_accuracy", {accuracy}}});
        }
        return numbers;
      },
      260, 4 /* so that many fall before the first evaluation */);
}

TEST(NewSamples, ThatAreLearnedInTrainingOnlyTellOfTheEvaluation) {
  EXPECT_EQ(first_cause(diagnose(evaluated(0.5, true))), "evaluation_preprocessing");
  EXPECT_FALSE(is_told(diagnose(evaluated(0.9, true)), "evaluation_preprocessing"));
  // The same samples from the start: what is learned may be learned by heart.
  EXPECT_NE(first_cause(diagnose(evaluated(0.5, false))), "evaluation_preprocessing");
}

TEST(Order, OfTargetsOfZeroAndOne) {
  const auto cause = [](double share, double samples) {
    TrainingUnderTest training;
    training.has_labels = false;
    const TrainingHistory history = history_of(
        [&](std::int64_t step) {
          const double one = static_cast<double>(step % 100) < 100 * share ? 1 : 0;
          return Numbers{{"loss", {0.4}}, {"target", {one, 0, one, one, 0, 0}}, {"input_shape", {samples, 4}}};
        },
        200);
    return first_cause(diagnose(history));
  };
  EXPECT_EQ(cause(0.3, 64), "data_not_shuffled");
  EXPECT_NE(cause(0.3, 4), "data_not_shuffled");  // so few are alike by chance
  EXPECT_NE(cause(0, 64), "data_not_shuffled");   // there is but one class
}

TEST(Start, AnswersThatAreFarTooSureOfManyClasses) {
  const auto confidence = [](double first) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.loss_at_start = first, training.loss_at_end = first / 4;
    training.numbers = {{"label_entropy", {5.2}}, {"classes", {200}}, {"predicted", {0, first / 2, 0, 0, 0, 0}}};
    return confidence_of(training.diagnosis(), "initialisation_scale");
  };
  EXPECT_GE(confidence(109), 0.8);
  EXPECT_EQ(confidence(6), 0);
}

// -log(sigmoid(a - b)), each a sum over products.
TEST(Signs, ARankingOfOneAgainstMany) {
  const auto is_reversed = [](const char* larger, const char* smaller) {
    TrainingUnderTest training;
    training.graph = fmt::format(
        R"([["Neg",[1],{{}}],["Mean",[2],{{}}],["LogSigmoid",[3],{{}}],["Sub",[4,5],{{}}],["Sum",[6],{{"dim":[-1],"sizes":{}}}],)"
        R"(["SumDim",[6],{{"sizes":{}}}],["parameter",[],{{"number":0}}]])",
        larger, smaller);
    return is_told(training.diagnosis(), "loss_sign");
  };
  EXPECT_TRUE(is_reversed("[64,32,8]", "[64,8]"));
  EXPECT_FALSE(is_reversed("[64,8]", "[64,32,8]"));
  EXPECT_FALSE(is_reversed("[64,8]", "[64,8]"));
}

TEST(Schedule, ThatIsSteppedTooSeldomToReachItsPeak) {
  const auto confidence = [](double last) {
    TrainingUnderTest training;
    training.optimizer = R"({"kind":"Adam","groups":[{"parameters":2,"lr":0.0001,"initial_lr":0.0001,"max_lr":0.01}]})";
    TrainingHistory history = training.history();
    for (std::int64_t step = 0; step < 200; step += 10)
      history.take_signal("learning_rate/0", step < 100 ? 0.0001 : last, step);
    return confidence_of(diagnose(history), "learning_rate_schedule");
  };
  EXPECT_GE(confidence(0.00012), 0.2);
  EXPECT_EQ(confidence(0.01), 0);
}

TEST(Memory, ThatGrowsByLittleAlarmsNobody) {
  const auto confidence = [](double bytes_a_step) {
    const TrainingHistory history = history_of(
        [&](std::int64_t step) {
          return Numbers{{"loss", {0.4}}, {"memory", {400e6 + bytes_a_step * static_cast<double>(step)}}};
        },
        400);
    return confidence_of(diagnose(history), "memory_leak");
  };
  EXPECT_GE(confidence(2e6), 0.8);
  EXPECT_LT(confidence(1e5), 0.5);
  EXPECT_GT(confidence(1e5), 0);
}

// Of a model of sequences the targets may be made flat: 16 places of 4 samples. What torch's own attention joins its
// heads from has as many rows as there are targets where it has as many heads as places.
TEST(Axes, PlacesOfSamplesAreNoSamples) {
  const auto cause = [](double samples) {
    TrainingUnderTest training;
    training.graph = R"([["Addmm",[1,2,3],{}],["parameter",[],{"number":1}],["View",[4],{"sizes":[2,16,2]}],)"
                     R"(["T",[5],{}],["Stack",[],{"dim":0}],["parameter",[],{"number":0}]])";
    training.numbers = {{"input_shape", {samples, 7}}};
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause(16), "inputs_scrambled");
  EXPECT_EQ(cause(4), "");
}

}  // namespace
}  // namespace trainwarden::diagnosis
