// Which elements dropout keeps, a vector at a time. Included once for each target of Highway.
#if defined(TRAINERS_BERT_DROPOUT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRAINERS_BERT_DROPOUT_INL
#undef TRAINERS_BERT_DROPOUT_INL
#else
#define TRAINERS_BERT_DROPOUT_INL
#endif

#include <cstdint>

#include <hwy/highway.h>

#include "model/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace bert::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// One row's part of the hash: two words that are mixed from the seed and the row's number by the finaliser of
// SplitMix64 (Steele et al. 2014, https://doi.org/10.1145/2714064.2660195).
class DropoutRow {
 public:
  HWY_INLINE DropoutRow(const Dropout& dropout, std::uint64_t row) : below_(dropout.below), scale_(dropout.scale) {
    if (below_ == 0) return;
    std::uint64_t x = dropout.seed + (row + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    x ^= x >> 31;
    start_ = static_cast<std::uint32_t>(x);
    factor_ = static_cast<std::uint32_t>(x >> 32) | 1;
  }

  HWY_INLINE bool any() const { return below_ != 0; }

  // `values` of the columns from `column` on: scaled or zero.
  template <class D, class V>
  HWY_INLINE V apply(D d, V values, std::size_t column) const {
    const hn::RebindToUnsigned<D> du;
    // The mixing is lowbias32 of Wellons' Hash Prospector.
    auto h = hn::Iota(du, static_cast<std::uint32_t>(column));
    h = hn::Xor(hn::Mul(h, hn::Set(du, 0x9e3779b9u)), hn::Set(du, start_));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<16>(h)), hn::Set(du, 0x7feb352du));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<15>(h)), hn::Set(du, 0x846ca68bu));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<16>(h)), hn::Set(du, factor_));
    // h >= below, for 31 bits: signed comparison is there on every CPU.
    const hn::RebindToSigned<D> di;
    const auto last_dropped = hn::Set(di, static_cast<std::int32_t>(below_ >> 1) - 1);
    const auto kept = hn::Gt(hn::BitCast(di, hn::ShiftRight<1>(h)), last_dropped);
    return hn::IfThenElseZero(hn::RebindMask(d, kept), hn::Mul(values, hn::Set(d, scale_)));
  }

 private:
  std::uint32_t below_;
  float scale_;
  std::uint32_t start_ = 0;
  std::uint32_t factor_ = 1;
};

}  // namespace bert::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
