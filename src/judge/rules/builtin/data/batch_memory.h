// BatchMemory: the batches that one worker trained on, as hashes, and which of their repetitions are a fault.
//
// Repetition has good reasons: the whole data set is one batch; epochs are not shuffled, or the set is a short one that
// is gone through again and again; a batch is used for several optimizer steps. So these count:
//   a batch that was newly taken from the loader and yet equals one of the last kMemory of the same epoch, although the
//   loader says that it is another (by its number, and by the indices of its samples when they are known), while other
//   new batches still come in between;
//   a batch that stays forever after the training had seen many different ones of its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "judge/rules/builtin/data/loader_place.h"

namespace trainwarden::rules {

struct Batch {
  std::uint64_t hash = 0;
  std::uint64_t elements = 0;
  std::optional<LoaderPlace> place;           // where the loader took it from; none: it was not taken in this step
  std::optional<std::uint64_t> indices = {};  // hash of its samples' places in the data set
};

class BatchMemory {
 public:
  static constexpr std::size_t kMemory = 16;       // batches back
  static constexpr std::size_t kJudged = 32;       // newly taken batches that the share is of
  static constexpr std::size_t kLeastRepeats = 4;  // among them
  static constexpr double kLeastShare = 0.25;
  static constexpr std::int64_t kLeastResumes = 3;   // times that a new batch followed a repeated one
  static constexpr std::int64_t kLeastChanges = 8;   // different batches before one may be called stuck
  static constexpr std::int64_t kTimesLongest = 10;  // so much longer than any stay before

  void add(const Batch& batch);

  std::size_t taken() const { return outcomes_.size(); }  // at most kJudged
  std::size_t repeats() const;                            // among them
  bool repeats_are_a_fault() const;
  // Steps for which the batch has been the same, when that is at least `least` and was otherwise before; else 0.
  std::int64_t stuck_steps(std::int64_t least) const;

 private:
  bool is_repeat(const Batch& batch) const;
  void take(const Batch& batch);
  void follow_stay(const Batch& batch);

  std::deque<Batch> recent_;       // that were taken from a loader, of one epoch
  std::deque<bool> outcomes_;      // of the last batches that were taken: was it a repeat?
  std::uint64_t hash_ = 0;         // of the last batch
  std::uint64_t elements_ = 0;     //
  std::int64_t stay_ = 0;          // steps with it in a row; 0: there was no batch yet
  std::int64_t longest_stay_ = 0;  // of batches before it
  std::int64_t changes_ = 0;       // batches before it, of its size
};

}  // namespace trainwarden::rules
