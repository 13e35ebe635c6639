// OpenParts: what the journal has of a step that has not ended, and what only the end of the step can write.
#pragma once

#include <cstdint>
#include <vector>

#include "hook/capture/staging/staged_step.h"
#include "hook/capture/writing/loss_tally.h"
#include "store/journal/journal_writer.h"

namespace trainwarden::capture {

// One thread at a time.
class OpenParts {
 public:
  bool any() const { return tensors_ > 0; }
  std::uint64_t tensors() const { return tensors_; }
  std::uint64_t tensor_bytes() const { return tensor_bytes_; }

  // The part was appended.
  void count(const StagedStep& part) {
    tensors_ += part.tensors.size();
    tensor_bytes_ += part.tensor_bytes();
  }
  // A step has one frame of statistics, and its losses stand in its last frame: both wait for it.
  void put_aside(StagedStep& part);
  void give_back_to(StagedStep& step);

  // The tensors are lost, or the step is written: there are none any more.
  void forget() { tensors_ = tensor_bytes_ = 0; }

 private:
  std::uint64_t tensors_ = 0;
  std::uint64_t tensor_bytes_ = 0;
  std::vector<journal::StatisticsRow> statistics_;
  LossTally losses_;
};

}  // namespace trainwarden::capture
