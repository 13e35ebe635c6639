#include "judge/rules/builtin/data/batch_memory.h"

#include <algorithm>

namespace trainwarden::rules {

void BatchMemory::add(const Batch& batch) {
  follow_stay(batch);
  if (batch.place) take(batch);
}

std::size_t BatchMemory::repeats() const {
  return static_cast<std::size_t>(std::count(outcomes_.begin(), outcomes_.end(), true));
}

bool BatchMemory::repeats_are_a_fault() const {
  if (repeats() < kLeastRepeats) return false;
  if (static_cast<double>(repeats()) < kLeastShare * static_cast<double>(outcomes_.size())) return false;
  std::int64_t resumes = 0;
  for (std::size_t i = 1; i < outcomes_.size(); ++i) resumes += outcomes_[i - 1] && !outcomes_[i] ? 1 : 0;
  return resumes >= kLeastResumes;
}

std::int64_t BatchMemory::stuck_steps(std::int64_t least) const {
  const bool was_otherwise = changes_ >= kLeastChanges && stay_ >= kTimesLongest * longest_stay_;
  return was_otherwise && stay_ >= least ? stay_ : 0;
}

bool BatchMemory::is_repeat(const Batch& batch) const {
  return std::any_of(recent_.begin(), recent_.end(), [&](const Batch& before) {
    if (before.hash != batch.hash || before.elements != batch.elements || before.place == batch.place) return false;
    const bool same_samples = before.indices && batch.indices && *before.indices == *batch.indices;
    return !same_samples;  // the sampler asked for them again, which is its right
  });
}

void BatchMemory::take(const Batch& batch) {
  if (!recent_.empty() && recent_.back().place == batch.place) return;  // seen at the step before, and used again
  if (!recent_.empty() && recent_.back().place->epoch != batch.place->epoch) recent_.clear();
  outcomes_.push_back(is_repeat(batch));
  recent_.push_back(batch);
  if (outcomes_.size() > kJudged) outcomes_.pop_front();
  if (recent_.size() > kMemory) recent_.pop_front();
}

void BatchMemory::follow_stay(const Batch& batch) {
  if (stay_ > 0 && batch.hash == hash_ && batch.elements == elements_) {
    ++stay_;
    return;
  }
  if (batch.elements != elements_) {
    changes_ = 0;
    longest_stay_ = 0;
  } else if (stay_ > 0) {
    ++changes_;
    longest_stay_ = std::max(longest_stay_, stay_);
  }
  hash_ = batch.hash;
  elements_ = batch.elements;
  stay_ = 1;
}

}  // namespace trainwarden::rules
