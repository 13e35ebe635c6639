// The order of examples: a shuffle that gives the same on each system, and its shares.
#include "training/batch_order.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

namespace bert {
namespace {

// One number below `bound`, each as likely. std::uniform_int_distribution differs between libraries.
std::uint64_t below(std::mt19937_64& random, std::uint64_t bound) {
  const std::uint64_t rest = (0 - bound) % bound;  // 2^64 mod bound: numbers below it would be too likely
  while (true) {
    const std::uint64_t number = random();
    if (number >= rest) return number % bound;
  }
}

}  // namespace

std::vector<Batch> cut_real(const Batch& batch, std::int64_t size) {
  std::vector<Batch> parts;
  for (std::int64_t begin = 0; begin < batch.real; begin += size) {
    Batch part{.epoch = batch.epoch, .real_of_all_ranks = batch.real_of_all_ranks};
    part.real = std::min(size, batch.real - begin);
    const auto first = batch.examples.begin() + begin;
    part.examples.assign(first, first + part.real);
    parts.push_back(std::move(part));
  }
  return parts;
}

BatchOrder::BatchOrder(const BatchOrderOptions& options) : options_(options) {
  constexpr std::int64_t kMaxExamples = std::int64_t{1} << 40;
  const auto is_size = [](std::int64_t size) { return size >= 1 && size <= kMaxExamples; };
  if (!is_size(options.examples) || !is_size(options.global_batch) || !is_size(options.ranks) ||
      options.global_batch < options.ranks) {
    throw std::runtime_error(
        "Batches need 1 example or more, 1 rank or more, and in each step an example for each rank; found " +
        std::to_string(options.examples) + " examples in batches of " + std::to_string(options.global_batch) + " for " +
        std::to_string(options.ranks) + " ranks.");
  }
  if (options.rank < 0 || options.rank >= options.ranks) {
    throw std::runtime_error("Rank " + std::to_string(options.rank) + " is none of " + std::to_string(options.ranks) +
                             ": they count from 0.");
  }
  const std::int64_t global = options.global_batch;
  steps_ = options.last == LastBatch::kDrop ? options.examples / global : (options.examples - 1) / global + 1;
  if (steps_ == 0) {
    throw std::runtime_error("There are " + std::to_string(options.examples) + " examples, fewer than the " +
                             std::to_string(global) +
                             " of one step on all ranks, and a smaller batch is dropped. Take "
                             "smaller batches, or pad the last.");
  }
}

void BatchOrder::shuffle_for(std::int64_t epoch) {
  if (epoch == epoch_) return;
  order_.resize(static_cast<std::size_t>(options_.examples));
  std::iota(order_.begin(), order_.end(), 0);
  epoch_ = epoch;
  if (!options_.shuffle) return;
  std::seed_seq seeds{static_cast<std::uint32_t>(options_.seed), static_cast<std::uint32_t>(options_.seed >> 32),
                      static_cast<std::uint32_t>(epoch), static_cast<std::uint32_t>(epoch >> 32)};
  std::mt19937_64 random(seeds);
  for (std::size_t left = order_.size(); left > 1; --left) std::swap(order_[left - 1], order_[below(random, left)]);
}

Batch BatchOrder::batch(std::int64_t step) {
  if (step < 0) throw std::runtime_error("Steps count from 0, found " + std::to_string(step) + ".");
  shuffle_for(step / steps_);
  const std::int64_t global = options_.global_batch;
  const std::int64_t begin = step % steps_ * global;
  const std::int64_t real = std::min(global, options_.examples - begin);  // of all ranks
  // A short batch is shared evenly, so that no rank has repeats alone while others have none.
  const std::int64_t first = begin + real * options_.rank / options_.ranks;
  const std::int64_t end = begin + real * (options_.rank + 1) / options_.ranks;
  const std::int64_t size = (global - 1) / options_.ranks + 1;
  Batch batch{.epoch = epoch_, .real = end - first, .real_of_all_ranks = real};
  for (std::int64_t i = first; i < end; ++i) batch.examples.push_back(order_[static_cast<std::size_t>(i)]);
  for (std::int64_t i = 0; static_cast<std::int64_t>(batch.examples.size()) < size; ++i) {
    batch.examples.push_back(order_[static_cast<std::size_t>(i % options_.examples)]);
  }
  return batch;
}

}  // namespace bert
