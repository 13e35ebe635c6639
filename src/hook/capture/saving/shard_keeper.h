// ShardKeeper: puts tensors together whose parts come one by one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hook/capture/black_box/box_recorder.h"
#include "hook/capture/saving/step_intake.h"
#include "hook/capture/tensor_table.h"
#include "trainwarden/statistics.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::capture {

// One part: numbers in memory of the host, and where in the whole they are.
struct Shard {
  const TensorView& part;
  const Shape& global_shape;
  std::span<const std::int64_t> offsets;  // of its first element, one for each dimension
};

// From any thread; they take turns. What cannot be kept has been counted.
class ShardKeeper {
 public:
  // Both must outlive this.
  ShardKeeper(StepIntake& intake, BoxRecorder& box) : intake_(intake), box_(box) {}

  void keep(TensorEntry& entry, FormBits form, const Shard& shard);
  // Tensors of which parts are missing count as lost: they go with the step that ends now.
  void end_step();
  bool has_open() const { return open_count_.load(std::memory_order_relaxed) > 0; }

 private:
  enum class Kept : std::uint8_t { kNothing, kValues, kStatistics, kShape };
  struct Block {
    std::vector<std::int64_t> first;
    std::vector<std::int64_t> sizes;
    friend bool operator==(const Block&, const Block&) = default;
  };
  struct Whole {
    TensorEntry* entry = nullptr;
    DType dtype = DType::kFloat32;
    Shape shape;
    FormBits form = 0;
    Kept kept = Kept::kNothing;
    std::optional<StepAssembler::Slot> slot;  // of its values, for the run or the black box
    Statistics statistics;                    // of the parts so far
    std::vector<Block> blocks;                // that have come
    std::int64_t elements = 0;                // in them
    bool is_lost = false;                     // and counted
  };

  Whole begin(TensorEntry& entry, FormBits form, const Shard& shard);
  void take(Whole& whole, const Shard& shard);
  void add_statistics(Whole& whole, const Shard& shard);
  void finish(Whole& whole);
  void lose(Whole& whole, std::string_view problem);

  StepIntake& intake_;
  BoxRecorder& box_;
  std::mutex mutex_;
  std::map<std::uint32_t, Whole> open_;  // by the tensor's id
  std::atomic<std::size_t> open_count_ = 0;
};

}  // namespace trainwarden::capture
