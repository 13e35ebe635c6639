// ComponentBlocks: the components of a part of a tensor, in row-major order, a cache-sized block at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "data/tensor/element.h"
#include "data/tensor/float_kernels.h"
#include "data/tensor/strided_reader.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden {

// T is the component type of the view's dtype (visit_component). One thread at a time.
template <class T>
class ComponentBlocks {
 public:
  static constexpr std::size_t kBlock = kFloatBlock;

  // Elements [first, first + count) of a host-readable view.
  ComponentBlocks(const TensorView& view, std::int64_t first, std::int64_t count)
      : reader_(view, first), left_(count), per_element_(components_per_element(view.dtype)) {
    // What is not aligned for T is gathered as well, so that T* is always a lawful pointer.
    if (!view.contiguous || reinterpret_cast<std::uintptr_t>(view.data) % alignof(T) != 0) return;
    in_place_ = static_cast<const T*>(view.data) + first * per_element_;
    // The first block is cut short so that the others begin with a cache line: loads that cross lines cost twice.
    const std::uintptr_t past_line = reinterpret_cast<std::uintptr_t>(in_place_) % kCacheLineBytes;
    next_elements_ -= static_cast<std::int64_t>(past_line / sizeof(T)) / per_element_;
  }

  // At most kBlock components; empty at the end. Valid until the next call.
  std::span<const T> next() {
    const std::int64_t elements = std::min(left_, next_elements_);
    next_elements_ = static_cast<std::int64_t>(kBlock) / per_element_;
    const auto components = static_cast<std::size_t>(elements * per_element_);
    left_ -= elements;
    if (in_place_ == nullptr) {
      reader_.read(elements, gathered_);
      return {gathered_, components};
    }
    const std::span<const T> block(in_place_, components);
    in_place_ += components;
    return block;
  }

 private:
  static constexpr std::size_t kCacheLineBytes = 64;

  StridedReader reader_;
  std::int64_t left_;
  std::int64_t per_element_;
  std::int64_t next_elements_ = static_cast<std::int64_t>(kBlock) / per_element_;
  const T* in_place_ = nullptr;
  alignas(64) T gathered_[kBlock];
};

}  // namespace trainwarden
