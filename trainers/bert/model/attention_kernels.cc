// The kernel of attention.
#include "model/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

// As in row_kernels.cc.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_AVX3_DL | HWY_SSSE3)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/attention_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway asks.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "model/dropout-inl.h"
#include "model/products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bert::kernels::HWY_NAMESPACE {
namespace {

// Rows of queries that are worked on at once: with 384 keys their scores take 72 KiB of the second cache.
constexpr std::size_t kBlockRows = 48;

// Hands out parts of the caller's memory, each on lines of its own; or, without memory, counts what they need.
class Scratch {
 public:
  explicit HWY_INLINE Scratch(void* memory) : memory_(static_cast<float*>(memory)) {}
  HWY_INLINE float* take(std::size_t count) {
    float* part = memory_ == nullptr ? nullptr : memory_ + taken_;
    taken_ += (count + 15) / 16 * 16;
    return part;
  }
  HWY_INLINE std::size_t bytes() const { return taken_ * sizeof(float); }

 private:
  float* memory_;
  std::size_t taken_ = 0;
};

// What one head needs of memory, forward and backward.
struct Memory {
  Memory(const Attention& self, std::size_t rows, std::size_t keys, void* memory) {
    Scratch scratch(memory);
    const std::size_t d = self.head_size;
    const std::size_t d_panels = whole_panels(d);
    const std::size_t key_panels = whole_panels(keys);
    const std::size_t block = std::min(kBlockRows, rows);
    keys_across = scratch.take(key_panels * d);
    values_across = scratch.take(key_panels * d);
    keys_down = scratch.take(keys * d_panels);
    values_down = scratch.take(keys * d_panels);
    queries = scratch.take(block * d);
    query_panels = scratch.take(block * d_panels);
    gradient_panels = scratch.take(block * d_panels);
    scores = scratch.take(block * key_panels);
    score_gradients = scratch.take(block * key_panels);
    block_out = scratch.take(block * d_panels);
    key_gradients = scratch.take(keys * d_panels);
    value_gradients = scratch.take(keys * d_panels);
    row = scratch.take(keys * d);
    bytes = scratch.bytes();
  }

  float* keys_across;    // panels of [d, keys]
  float* values_across;  // panels of [d, keys]
  float* keys_down;      // panels of [keys, d]
  float* values_down;    // panels of [keys, d]
  float* queries;        // [block, d], scaled
  float* query_panels;   // panels of [block, d]
  float* gradient_panels;
  float* scores;           // [block, keys in whole panels]
  float* score_gradients;  // the same
  float* block_out;        // [block, d in whole panels]
  float* key_gradients;    // [keys, d in whole panels]
  float* value_gradients;
  float* row;  // [keys, d]: rows with their bias
  std::size_t bytes;
};

// One head of one item, as a call works on it.
struct Work {
  const Attention& self;
  const Attention::Item& item;
  const float* projected;
  Memory memory;

  std::size_t d() const { return self.head_size; }
  std::size_t step() const { return 3 * self.hidden; }
  std::size_t key_step() const { return whole_panels(item.key_count); }
  std::size_t out_step() const { return whole_panels(self.head_size); }
  float scale() const { return 1 / std::sqrt(static_cast<float>(self.head_size)); }
  // Where query (0), key (1) or value (2) of this head begin in a row.
  std::size_t part(std::size_t which) const { return which * self.hidden + item.head * self.head_size; }
};

// out [d] = (from + bias) · scale
HWY_INLINE void biased(const float* from, const float* bias, std::size_t d, float scale, float* out) {
  for (std::size_t i = 0; i < d; ++i) out[i] = (from[i] + bias[i]) * scale;
}

// The keys (1) or values (2) with their bias: into Memory::row.
HWY_INLINE void gather(const Work& work, std::size_t which) {
  const std::size_t part = work.part(which);
  for (std::size_t i = 0; i < work.item.key_count; ++i) {
    const float* from = work.projected + static_cast<std::size_t>(work.item.keys[i]) * work.step() + part;
    biased(from, work.self.bias + part, work.d(), 1, work.memory.row + i * work.d());
  }
}

HWY_INLINE void gather_queries(const Work& work, std::size_t first, std::size_t rows) {
  const std::size_t part = work.part(0);
  for (std::size_t i = 0; i < rows; ++i) {
    const float* from = work.projected + (work.item.first_row + first + i) * work.step() + part;
    biased(from, work.self.bias + part, work.d(), work.scale(), work.memory.queries + i * work.d());
  }
}

// Scores of a block; those of columns that only fill the last panel are so low that they count as nothing.
HWY_INLINE void score(const Work& work, std::size_t rows) {
  const Memory& memory = work.memory;
  multiply({memory.queries, work.d(), 1}, rows, memory.keys_across, work.d(), work.item.key_count, memory.scores,
           work.key_step(), false);
  for (std::size_t i = 0; i < rows; ++i) {
    float* row = memory.scores + i * work.key_step();
    std::fill(row + work.item.key_count, row + work.key_step(), -1e30f);
  }
}

// Turns a row of scores into exponentials, which dropout thins; gives the sum before that and the maximum.
struct Exponentials {
  float max;
  float sum;
};
HWY_INLINE Exponentials exponentiate(const Work& work, float* row, const DropoutRow& dropped) {
  const Floats d;
  Vector highest = hn::LoadU(d, row);
  for (std::size_t at = 0; at < work.key_step(); at += hn::Lanes(d)) highest = hn::Max(highest, hn::LoadU(d, row + at));
  const float max = hn::GetLane(hn::MaxOfLanes(d, highest));
  Vector sum = hn::Zero(d);
  for (std::size_t at = 0; at < work.key_step(); at += hn::Lanes(d)) {
    Vector value = hn::Exp(d, hn::Sub(hn::LoadU(d, row + at), hn::Set(d, max)));
    sum = hn::Add(sum, value);
    if (dropped.any()) value = dropped.apply(d, value, at);
    hn::StoreU(value, d, row + at);
  }
  return {max, hn::GetLane(hn::SumOfLanes(d, sum))};
}

void attend(const Attention& self, const Attention::Item& item, const float* projected, float* context, float* logs,
            void* scratch) {
  const Work work{self, item, projected, Memory(self, item.rows, item.key_count, scratch)};
  const Memory& memory = work.memory;
  const std::size_t d = work.d();
  const auto row_of = [&](std::size_t i) { return memory.row + i * d; };
  gather(work, 1);
  pack_transposed(item.key_count, d, memory.keys_across, row_of);
  gather(work, 2);
  pack(item.key_count, d, memory.values_down, row_of);
  float sums[kBlockRows];
  for (std::size_t first = 0; first < item.rows; first += kBlockRows) {
    const std::size_t rows = std::min(kBlockRows, item.rows - first);
    gather_queries(work, first, rows);
    score(work, rows);
    for (std::size_t i = 0; i < rows; ++i) {
      const DropoutRow dropped(self.dropout, item.first_probability_row + first + i);
      const Exponentials of_row = exponentiate(work, memory.scores + i * work.key_step(), dropped);
      sums[i] = of_row.sum;
      logs[first + i] = of_row.max + std::log(of_row.sum);
    }
    multiply({memory.scores, work.key_step(), 1}, rows, memory.values_down, item.key_count, d, memory.block_out,
             work.out_step(), false);
    for (std::size_t i = 0; i < rows; ++i) {
      float* to = context + (item.first_row + first + i) * self.hidden + item.head * d;
      const float* from = memory.block_out + i * work.out_step();
      for (std::size_t j = 0; j < d; ++j) to[j] = from[j] / sums[i];
    }
  }
}

// A row of scores becomes probabilities, thinned; a row of their gradients becomes that of scores. `mean` is the sum of
// probability times gradient.
HWY_INLINE void row_back(const Work& work, float* scores, float* gradients, float log, float mean,
                         const DropoutRow& dropped) {
  const Floats d;
  for (std::size_t at = 0; at < work.key_step(); at += hn::Lanes(d)) {
    const Vector probability = hn::Exp(d, hn::Sub(hn::LoadU(d, scores + at), hn::Set(d, log)));
    Vector gradient = hn::LoadU(d, gradients + at);
    Vector thinned = probability;
    if (dropped.any()) {
      gradient = dropped.apply(d, gradient, at);
      thinned = dropped.apply(d, probability, at);
    }
    hn::StoreU(thinned, d, scores + at);
    hn::StoreU(hn::Mul(probability, hn::Sub(gradient, hn::Set(d, mean))), d, gradients + at);
  }
}

// Adds a row [d] to a sum of rows, and writes it, times `scale`.
HWY_INLINE void put_row(const float* from, std::size_t d, float scale, float* to, float* sum) {
  for (std::size_t i = 0; i < d; ++i) {
    to[i] = from[i] * scale;
    sum[i] += to[i];
  }
}

// The gradients of keys (1) or values (2), which are zero in rows that nobody attends to.
HWY_INLINE void put_gathered(const Work& work, std::size_t which, const float* gradients, float* projected_gradient,
                             float* bias_gradient) {
  const std::size_t part = work.part(which);
  if (work.item.key_count < work.item.rows) {
    for (std::size_t i = 0; i < work.item.rows; ++i) {
      float* row = projected_gradient + (work.item.first_row + i) * work.step() + part;
      std::fill(row, row + work.d(), 0.0f);
    }
  }
  for (std::size_t i = 0; i < work.item.key_count; ++i) {
    put_row(gradients + i * work.out_step(), work.d(), 1,
            projected_gradient + static_cast<std::size_t>(work.item.keys[i]) * work.step() + part,
            bias_gradient + part);
  }
}

HWY_INLINE void pack_all(const Work& work) {
  const Memory& memory = work.memory;
  const auto row_of = [&](std::size_t i) { return memory.row + i * work.d(); };
  gather(work, 1);
  pack_transposed(work.item.key_count, work.d(), memory.keys_across, row_of);
  pack(work.item.key_count, work.d(), memory.keys_down, row_of);
  gather(work, 2);
  pack_transposed(work.item.key_count, work.d(), memory.values_across, row_of);
}

struct Gradients {
  const float* context;     // given: the result of forward
  const float* of_context;  // given
  const float* logs;        // given
  float* of_projected;
  float* of_bias;
};

HWY_INLINE void block_back(const Work& work, const Gradients& gradients, std::size_t first, std::size_t rows) {
  const Memory& memory = work.memory;
  const std::size_t d = work.d();
  const std::size_t hidden = work.self.hidden;
  const std::size_t keys = work.item.key_count;
  const std::size_t place = (work.item.first_row + first) * hidden + work.item.head * d;
  const float* of_context = gradients.of_context + place;
  const float* context = gradients.context + place;
  gather_queries(work, first, rows);
  pack(rows, d, memory.query_panels, [&](std::size_t i) { return memory.queries + i * d; });
  pack(rows, d, memory.gradient_panels, [&](std::size_t i) { return of_context + i * hidden; });
  score(work, rows);
  multiply({of_context, hidden, 1}, rows, memory.values_across, d, keys, memory.score_gradients, work.key_step(),
           false);
  for (std::size_t i = 0; i < rows; ++i) {
    float mean = 0;
    for (std::size_t j = 0; j < d; ++j) mean += of_context[i * hidden + j] * context[i * hidden + j];
    const DropoutRow dropped(work.self.dropout, work.item.first_probability_row + first + i);
    row_back(work, memory.scores + i * work.key_step(), memory.score_gradients + i * work.key_step(),
             gradients.logs[first + i], mean, dropped);
  }
  multiply({memory.score_gradients, work.key_step(), 1}, rows, memory.keys_down, keys, d, memory.block_out,
           work.out_step(), false);
  for (std::size_t i = 0; i < rows; ++i) {
    put_row(memory.block_out + i * work.out_step(), d, work.scale(),
            gradients.of_projected + (work.item.first_row + first + i) * work.step() + work.part(0),
            gradients.of_bias + work.part(0));
  }
  multiply({memory.score_gradients, 1, work.key_step()}, keys, memory.query_panels, rows, d, memory.key_gradients,
           work.out_step(), first != 0);
  multiply({memory.scores, 1, work.key_step()}, keys, memory.gradient_panels, rows, d, memory.value_gradients,
           work.out_step(), first != 0);
}

void attend_back(const Attention& self, const Attention::Item& item, const float* projected, const Gradients& gradients,
                 void* scratch) {
  const Work work{self, item, projected, Memory(self, item.rows, item.key_count, scratch)};
  pack_all(work);
  for (std::size_t which = 0; which < 3; ++which) {
    std::fill_n(gradients.of_bias + work.part(which), work.d(), 0.0f);
  }
  for (std::size_t first = 0; first < item.rows; first += kBlockRows) {
    block_back(work, gradients, first, std::min(kBlockRows, item.rows - first));
  }
  put_gathered(work, 1, work.memory.key_gradients, gradients.of_projected, gradients.of_bias);
  put_gathered(work, 2, work.memory.value_gradients, gradients.of_projected, gradients.of_bias);
}

void attend_back_from(const Attention& self, const Attention::Item& item, const float* projected, const float* context,
                      const float* logs, const float* context_gradient, float* projected_gradient, float* bias_gradient,
                      void* scratch) {
  attend_back(self, item, projected, {context, context_gradient, logs, projected_gradient, bias_gradient}, scratch);
}

std::size_t bytes_needed(const Attention& self, std::size_t rows, std::size_t keys) {
  return Memory(self, rows, keys, nullptr).bytes;
}

}  // namespace
}  // namespace bert::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bert::kernels {

HWY_EXPORT(attend);
HWY_EXPORT(attend_back_from);
HWY_EXPORT(bytes_needed);

std::size_t Attention::scratch_bytes(std::size_t max_rows, std::size_t max_keys) const {
  return HWY_DYNAMIC_DISPATCH(bytes_needed)(*this, max_rows, max_keys);
}

void Attention::forward(const Item& item, const float* projected, float* context, float* logs, void* scratch) const {
  HWY_DYNAMIC_DISPATCH(attend)(*this, item, projected, context, logs, scratch);
}

void Attention::backward(const Item& item, const float* projected, const float* context, const float* logs,
                         const float* context_gradient, float* projected_gradient, float* bias_gradient,
                         void* scratch) const {
  HWY_DYNAMIC_DISPATCH(attend_back_from)
  (*this, item, projected, context, logs, context_gradient, projected_gradient, bias_gradient, scratch);
}

}  // namespace bert::kernels
#endif
