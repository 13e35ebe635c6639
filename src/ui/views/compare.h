// Two runs side by side: what they were given, and the first step and tensor at which they part.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainwarden/mode.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::views {

// One thing that is known of both runs. Empty texts: it is not known of that run.
struct ComparedField {
  std::string group;  // "run", "label", "capture"
  std::string name;
  std::string a;
  std::string b;
  bool differs() const { return a != b; }
};

// A tensor that is not the same in both runs at a step.
struct Parting {
  std::string tensor;
  std::string worker;
  std::string form;             // what was compared: "value", "scalar", "statistics", "dtype and shape", "texts"
  double a = 0;                 // where they differ most: of a value that element, of statistics that number
  double b = 0;                 //
  std::int64_t place = -1;      // the element's index in row-major order; -1 when it is none
  std::string quantity;         // which number of the statistics; for people when there are no numbers
  double difference = 0;        // |a - b|, the largest; infinite when one of them is NaN or infinite
  double relative = 0;          // to the largest magnitude in the tensor
  std::uint64_t differing = 0;  // elements, of `elements`
  std::uint64_t elements = 0;
};

struct CompareLimits {
  std::chrono::milliseconds time{3'000};
  std::size_t partings = 100;  // listed, of the first step at which there are any
};

struct Comparison {
  std::vector<ComparedField> fields;
  std::size_t common_tensors = 0;
  std::vector<std::string> only_a;  // tensors, sorted
  std::vector<std::string> only_b;

  std::uint64_t common_steps = 0;    // global steps that both have
  std::uint64_t compared_steps = 0;  // of them, from `from` on
  std::uint64_t compared_tensors = 0;
  std::uint64_t damaged = 0;      // tensors that could not be read on one side
  std::int64_t last_step = -1;    // that was compared; -1 when none was
  bool cut = false;               // time was up: ask again from last_step + 1 on
  std::int64_t parted_step = -1;  // the first at which they differ; -1: no such step was found
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = -1;
  std::uint64_t parted_tensors = 0;
  std::vector<Parting> partings;  // at that step, in the order in which run A first saved its tensors
};

struct CompareQuestion {
  double tolerance =
      0;  // relative to the largest magnitude in a tensor; 0: bit for bit, but that -0 equals 0 and NaN NaN
  std::int64_t from = 0;  // the first global step that is looked at
};

Comparison compare_runs(Trial& a, Trial& b, const CompareQuestion& question, const CompareLimits& limits = {});

}  // namespace trainwarden::views
