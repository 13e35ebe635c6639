#include "data/device/host_region.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::device {

Result<HostRegion> HostRegion::create(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for {} ({})", format_bytes(bytes), std::strerror(errno)));
  }
  HostRegion region;
  region.memory_ = {static_cast<std::byte*>(memory), bytes};
  if (::madvise(memory, bytes, MADV_DONTFORK) != 0) {
    return Status(Code::kResourceExhausted, fmt::format("memory that is not forked: {}", std::strerror(errno)));
  }
  return region;
}

HostRegion::~HostRegion() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

}  // namespace trainwarden::device
