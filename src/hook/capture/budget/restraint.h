// What a budget leaves out of what the user asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/save_policy.h"

namespace trainwarden::capture {

// A KeepForm as bits; 0 is "not wanted".
using FormBits = std::uint8_t;
inline constexpr FormBits kValuesBit = 1;
inline constexpr FormBits kStatisticsBit = 2;
inline constexpr FormBits kHistogramBit = 4;
inline constexpr FormBits kHashBit = 8;
inline constexpr FormBits kShapeBit = 16;
inline constexpr FormBits kBlackBoxBit = 32;  // whole, but only for the black box: nothing of it goes to the journal
inline constexpr FormBits kAnyStatisticsBits = kStatisticsBit | kHistogramBit | kHashBit;
FormBits bits_of(const KeepForm& form);
KeepForm form_of(FormBits bits);

struct Restraint {
  std::int64_t interval_factor = 1;  // save intervals are this many times as long: a power of two
  FormBits dropped = 0;              // of kValuesBit, kHistogramBit, kHashBit
  std::int64_t losses_factor = 1;    // the same as interval_factor of losses, which are always kept whole
  std::int64_t signals_factor = 1;   // and of signals, which are that, too
  std::int64_t box_factor = 1;       // a black box that is sampled holds every so manieth step: a power of two

  // `form` without what is dropped; values leave their statistics behind.
  FormBits apply(FormBits form) const;
  std::vector<std::string> dropped_names() const;  // "histogram", "hash", "values"
  friend bool operator==(const Restraint&, const Restraint&) = default;
};

// What a step asks for that a budget may leave out.
struct StepDemand {
  bool wanted = false;             // at this step, by its interval
  bool listed = false;             // at this step, by save_steps: not to be left out
  bool losses = false;             // losses are wanted at this step, by their interval
  bool signals = false;            // and signals by theirs
  bool boxed = false;              // a black box that is sampled holds this step
  std::int64_t save_interval = 1;  // the shortest there is, in this mode
  FormBits forms = 0;              // all there are
  friend bool operator==(const StepDemand&, const StepDemand&) = default;
};

}  // namespace trainwarden::capture
