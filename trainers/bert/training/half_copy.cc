// Rounds master weights to bfloat16 or float16.
#include "training/half_copy.h"

namespace bert {
namespace {

template <typename Half>
void round_part(const Slot& slot, std::int64_t begin, std::int64_t count) {
  const float* from = slot.master.data_ptr<float>() + begin;
  Half* to = slot.parameter.data_ptr<Half>() + begin;
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<Half>(from[i]);
}

}  // namespace

void round_to_parameter(const Slot& slot) {
  if (slot.parameter.scalar_type() != at::kFloat) slot.parameter.detach().copy_(slot.master);
}

void round_to_parameter(const Slot& slot, std::int64_t begin, std::int64_t count) {
  if (slot.parameter.scalar_type() == at::kBFloat16) round_part<at::BFloat16>(slot, begin, count);
  if (slot.parameter.scalar_type() == at::kHalf) round_part<at::Half>(slot, begin, count);
}

}  // namespace bert
