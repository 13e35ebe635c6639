#include "hook/capture/budget/restraint.h"

namespace trainwarden::capture {

FormBits bits_of(const KeepForm& form) {
  unsigned bits = 0;
  if (form.values) bits |= kValuesBit;
  if (form.any_statistics()) bits |= kStatisticsBit;
  if (form.histogram) bits |= kHistogramBit;
  if (form.hash) bits |= kHashBit;
  if (form.shape) bits |= kShapeBit;
  return static_cast<FormBits>(bits);
}

KeepForm form_of(FormBits bits) {
  return {.values = (bits & kValuesBit) != 0,
          .statistics = (bits & kStatisticsBit) != 0,
          .histogram = (bits & kHistogramBit) != 0,
          .hash = (bits & kHashBit) != 0,
          .shape = (bits & kShapeBit) != 0};
}

FormBits Restraint::apply(FormBits form) const {
  const bool without_values = (form & dropped & kValuesBit) != 0;
  const unsigned kept = form & ~unsigned{dropped};
  return static_cast<FormBits>(without_values ? kept | kStatisticsBit : kept);
}

std::vector<std::string> Restraint::dropped_names() const {
  std::vector<std::string> names;
  if ((dropped & kHistogramBit) != 0) names.emplace_back("histogram");
  if ((dropped & kHashBit) != 0) names.emplace_back("hash");
  if ((dropped & kValuesBit) != 0) names.emplace_back("values");
  return names;
}

}  // namespace trainwarden::capture
