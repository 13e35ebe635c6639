// A training that is written by hand, through the texts and numbers that a run has.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "judge/diagnosis/diagnosis.h"

namespace trainwarden::diagnosis {

using Numbers = std::vector<std::pair<std::string, Values>>;

// What an examination has measured at a step, as a run has it: its layout, and the numbers.
inline void take_record(TrainingHistory& history, const Numbers& record, std::int64_t step) {
  std::string layout;
  Values values;
  for (const auto& [name, part] : record) {
    layout += fmt::format("{}[\"{}\",{}]", layout.empty() ? "" : ",", name, part.size());
    values.insert(values.end(), part.begin(), part.end());
  }
  history.take_text("examination/layout", "{\"layout\":[" + layout + "]}");
  history.take_numbers(values, step);
}

// A training with one Linear layer of 2 classes, of which each test changes what it is about.
class TrainingUnderTest {
 public:
  std::string modules = R"({"name":"0","kind":"Linear","leaf":true},{"name":"2","kind":"Linear","leaf":true})";
  std::string parameters = R"({"name":"0.weight","shape":[8,4],"dtype":"float32","trainable":true,"optimizers":[0]},)"
                           R"({"name":"2.weight","shape":[2,8],"dtype":"float32","trainable":true,"optimizers":[0]})";
  std::string unregistered;
  std::string compared =
      R"({"function":"cross_entropy","predicted":[16,2],"target":[16],"predicted_dtype":"float32","target_dtype":"int64"})";
  std::string optimizer = R"({"kind":"SGD","groups":[{"parameters":2,"lr":0.1,"momentum":0}]})";
  Values gradient = {0.1, 0.1};
  double update = 0.001;  // of weights of 0.3
  double loss_at_start = 0.7;
  double loss_at_end = 0.1;
  double stale = 0;
  Values counts = {200, 200, 200, 200, 0, 0, 0, 0, 0, 0};
  std::int64_t steps = 200;
  std::string more;    // of the structure
  std::string places;  // of the program, beside that of its optimizer
  std::string graph;   // nodes; empty: none is known
  Numbers numbers;     // in each examination, besides
  double weight = 0.3;
  bool has_labels = true;
  double plain_share = 0;                 // of the compared loss is the plain one; 0: not known
  double seen_part = 1;                   // of the loss is what the loss function gave
  double compared_at_end = std::nan("");  // NaN: as the loss

  TrainingHistory history() const {
    TrainingHistory history;
    add_to(history);
    return history;
  }

  void add_to(TrainingHistory& history) const {
    history.take_text(
        "examination/structure",
        fmt::format(R"({{"modules":[{}],"parameters":[{}],"unregistered":[{}],"optimizers":[{}],"compared":[{}],)"
                    R"("layers":["0","2"],"places":{{"optimizer":"/home/me/train.py:7"{}}},"foreign":0{}}})",
                    modules, parameters, unregistered, optimizer, compared, places, more));
    if (!graph.empty()) history.take_text("examination/graph", fmt::format(R"({{"nodes":{},"complete":true}})", graph));
    for (std::int64_t step = 0; step < steps; step += 5) {
      write(history, step);
      history.take_signal("stale_gradients", stale, step);
    }
  }

  Diagnosis diagnosis() const { return diagnose(history()); }

 private:
  // Of what no optimizer has, nothing.
  double update_of(int number) const {
    constexpr std::string_view kOptimizers = "\"optimizers\":[";
    std::size_t at = parameters.find(kOptimizers);
    for (int i = 0; i < number && at != std::string::npos; ++i) at = parameters.find(kOptimizers, at + 1);
    return at != std::string::npos && parameters[at + kOptimizers.size()] == ']' ? 0 : update;
  }

  double compared_of(double loss, double share) const {
    return std::isnan(compared_at_end) ? seen_part * loss : 0.7 + share * (compared_at_end - 0.7);
  }

  void write(TrainingHistory& history, std::int64_t step) const {
    const double share = static_cast<double>(step) / static_cast<double>(steps);
    const double loss =
        loss_at_start + share * (loss_at_end - loss_at_start) + 0.01 * std::sin(static_cast<double>(step));
    Values gradients = gradient;  // no two batches give the same
    for (double& each : gradients) each = each > 0 ? each * (1 + 0.01 * std::cos(static_cast<double>(step))) : each;
    Numbers all = {{"loss", {loss}},
                   {"compared_loss", {compared_of(loss, share)}},
                   {"gradient", gradients},
                   {"weight", {weight, weight}},
                   {"update", {update_of(0), update_of(1)}},
                   {"accuracy", {0.9}},
                   {"unit_spread", {0.5, 0.5}},
                   {"look_steps", {static_cast<double>(step)}},
                   {"looks", {loss}},
                   {"step", {static_cast<double>(step)}},
                   {"counts", counts},
                   {"spent_seconds", {0.1}}};
    if (has_labels) all.push_back({"labels", {8, 8}});
    if (plain_share > 0) all.push_back({"plain_loss", {plain_share * compared_of(loss, share)}});
    all.insert(all.end(), numbers.begin(), numbers.end());
    take_record(history, all, step);
  }
};

// Ten examinations, each with the numbers that `numbers_of` (int → Numbers) gives for it.
template <class NumbersOf>
TrainingHistory history_of_looks(NumbersOf numbers_of) {
  TrainingHistory history;
  for (int look = 0; look < 10; ++look) {
    TrainingUnderTest training;
    training.steps = 5;
    training.numbers = numbers_of(look);
    training.add_to(history);
  }
  return history;
}

inline std::string first_cause(const Diagnosis& diagnosis) {
  return diagnosis.first() == nullptr ? "" : diagnosis.first()->cause;
}

inline bool is_told(const Diagnosis& diagnosis, std::string_view cause) {
  return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [&](const CauseFinding& each) { return each.cause == cause; });
}

inline double confidence_of(const Diagnosis& diagnosis, std::string_view cause) {
  for (const CauseFinding& each : diagnosis.findings) {
    if (each.cause == cause) return each.confidence;
  }
  return 0;
}

inline double confidence_with(Numbers numbers, std::string_view cause) {
  TrainingUnderTest training;
  training.numbers = std::move(numbers);
  return confidence_of(training.diagnosis(), cause);
}

// Of a training with this graph.
inline std::string cause_of_graph(const std::string& nodes) {
  TrainingUnderTest training;
  training.graph = nodes;
  return first_cause(training.diagnosis());
}

inline std::string cause_of_numbers(Numbers numbers) {
  TrainingUnderTest training;
  training.numbers = std::move(numbers);
  return first_cause(training.diagnosis());
}

}  // namespace trainwarden::diagnosis
