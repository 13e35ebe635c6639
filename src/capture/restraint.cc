#include "capture/restraint.h"

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
