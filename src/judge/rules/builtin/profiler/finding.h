// A finding of the profiler's rules: what a fault costs of the train steps, and what mending it would gain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

// A part of the train steps' wall time, in [0, 1], and between what it lies.
struct ShareRange {
  double mean = 0;
  double low = 0;
  double high = 0;
};

// How much of a share goes away when the fault is mended, in [0, 1]: expected, and at least and at most.
struct Removable {
  double expected = 1;
  double least = 1;
  double most = 1;
};

// Gains are ratios of throughput, after to before: 1 is none.
struct Cost {
  double step_share = 0;
  double gain = 1;
  double gain_min = 1;
  double gain_max = 1;
};

// Steps that lose this share of their time are 1 / (1 - share) times as fast (Amdahl's law). A hundred times at most.
double gain_of_removing(double share);

// What the share costs, and what it gains when so much of it is removed. The bounds are in order, whatever they say.
Cost cost_of(const ShareRange& share, const Removable& removable = {});

// Cost as evidence: `step_share`, `gain`, `gain_min`, `gain_max`, then what is the rule's own.
Verdict finding(std::string message, std::string advice, const Cost& cost, std::vector<Evidence> own,
                std::int64_t global_step, Severity severity = Severity::kWarning);

// "1.8 times as fast (1.6 to 2.1)".
std::string gain_text(const Cost& cost);

}  // namespace trainwarden::rules
