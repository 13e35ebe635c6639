#include "measure/sampling/sample_buffer.h"

#include <iterator>
#include <utility>

namespace trainwarden::sampling {
namespace {

std::uint64_t samples_in(const journal::SampleTable& table) {
  std::uint64_t samples = 0;
  for (const journal::SampleSeries& series : table.series) samples += series.values.size();
  return samples;
}

}  // namespace

void SampleBuffer::take(std::size_t number, const machine::Reading& reading, const TickTime& time) {
  if (reading.values().empty()) return;
  const std::lock_guard lock(mutex_);
  Sampler& sampler = samplers_[number];
  name_new(sampler, reading.metrics());
  // Times rise within a table.
  if (time.set_back || !sampler.draft.has_room(reading.values().size())) end_table(sampler);
  sampler.draft.begin_tick(time.unix_ns);
  for (const machine::Reading::Value& value : reading.values()) {
    sampler.draft.put(sampler.numbers[value.metric], value.value);
  }
}

void SampleBuffer::name_new(Sampler& sampler, const std::vector<Metric>& metrics) {
  for (std::size_t i = sampler.numbers.size(); i < metrics.size(); ++i) {
    new_metrics_.push_back({metrics_, metrics[i]});
    sampler.numbers.push_back(metrics_++);
  }
}

void SampleBuffer::end_table(Sampler& sampler) {
  if (sampler.draft.empty()) return;
  full_.push_back(sampler.draft.take());
  if (full_.size() <= kMaxWaitingTables) return;
  lost_ += samples_in(full_.front());
  full_.pop_front();
}

journal::SampleBatch SampleBuffer::drain() {
  const std::lock_guard lock(mutex_);
  for (Sampler& sampler : samplers_) end_table(sampler);
  journal::SampleBatch batch;
  batch.new_metrics = std::exchange(new_metrics_, {});
  batch.tables.assign(std::make_move_iterator(full_.begin()), std::make_move_iterator(full_.end()));
  full_.clear();
  return batch;
}

void SampleBuffer::lose(const journal::SampleBatch& batch) {
  const std::lock_guard lock(mutex_);
  for (const journal::SampleTable& table : batch.tables) lost_ += samples_in(table);
}

std::uint64_t SampleBuffer::lost_samples() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

}  // namespace trainwarden::sampling
