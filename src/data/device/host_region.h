// HostRegion: whole pages of zeros, for memory that a device is to copy into.
#pragma once

#include <cstddef>
#include <utility>

#include "core/base/bytes.h"
#include "trainwarden/status.h"

namespace trainwarden::device {

// A forked child does not get it: after a fork, parent and child would each have pages of their own as soon as one of
// them writes, and the device might know those of the child.
class HostRegion {
 public:
  HostRegion() = default;
  ~HostRegion();
  HostRegion(HostRegion&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}
  HostRegion& operator=(HostRegion&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }

  // kResourceExhausted.
  static Result<HostRegion> create(std::size_t bytes);

  MutableByteSpan memory() const { return memory_; }

 private:
  MutableByteSpan memory_;
};

}  // namespace trainwarden::device
