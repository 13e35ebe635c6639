// MachineUse: what the training's machine was busy with before a step, for rules over steps that ask for a
// cause.
#pragma once

#include <cstdint>
#include <optional>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

struct MachineUse {
  double processors = 0;       // that the training can use
  double busy = 0;             // processors that its processes kept busy
  double waits_for_disks = 0;  // share of the time in which a task of the machine waited for a disk
};

// One thread at a time. Asks the run again when a quarter more of time has passed, so that judging each step costs
// little.
class MachineUseReader {
 public:
  // A train step ended: what is read begins with the first of them.
  void note(const StepWindow& window);
  // Null where the machine was not sampled, or not yet. Valid until the next call.
  const MachineUse* at(const StepWindow& window);

 private:
  std::int64_t from_unix_ns_ = 0;
  std::int64_t next_ask_ns_ = 0;
  std::optional<MachineUse> use_;
};

}  // namespace trainwarden::rules
