// GatherWrite: many pieces of memory into a file with as few system calls as the system's limits allow.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <span>

#include "core/base/bytes.h"

namespace trainwarden::storage {

class GatherWrite {
 public:
  // The parts must live as long as this.
  explicit GatherWrite(std::span<const ByteSpan> parts) : parts_(parts) { advance(0); }

  bool done() const { return parts_.empty(); }
  // One writev of at most `limit_bytes`, tried again when a signal interrupts it. How many bytes went, or -1 and errno.
  std::ptrdiff_t write_some(int file, std::size_t limit_bytes);

 private:
  static constexpr std::size_t kMostParts = 1024;  // IOV_MAX of Linux

  std::span<iovec> next_parts(std::size_t limit_bytes);
  void advance(std::size_t bytes);  // also past empty parts

  std::span<const ByteSpan> parts_;
  std::size_t done_of_first_ = 0;
  std::array<iovec, kMostParts> buffers_;
};

}  // namespace trainwarden::storage
