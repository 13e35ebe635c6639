#include "store/storage/gather_write.h"

#include <algorithm>
#include <cerrno>

namespace trainwarden::storage {

std::ptrdiff_t GatherWrite::write_some(int file, std::size_t limit_bytes) {
  const std::span<iovec> buffers = next_parts(limit_bytes);
  std::ptrdiff_t written = 0;
  do {
    written = ::writev(file, buffers.data(), static_cast<int>(buffers.size()));
  } while (written < 0 && errno == EINTR);
  if (written > 0) advance(static_cast<std::size_t>(written));
  return written;
}

std::span<iovec> GatherWrite::next_parts(std::size_t limit_bytes) {
  std::size_t count = 0;
  std::size_t offset = done_of_first_;
  while (count < std::min(parts_.size(), kMostParts) && limit_bytes > 0) {
    const ByteSpan part = parts_[count].subspan(offset);
    const std::size_t bytes = std::min(part.size(), limit_bytes);
    buffers_[count] = {const_cast<std::byte*>(part.data()), bytes};  // writev only reads, whatever its type says
    limit_bytes -= bytes;
    offset = 0;
    ++count;
  }
  return std::span(buffers_).first(count);
}

void GatherWrite::advance(std::size_t bytes) {
  done_of_first_ += bytes;
  while (!parts_.empty() && done_of_first_ >= parts_.front().size()) {
    done_of_first_ -= parts_.front().size();
    parts_ = parts_.subspan(1);
  }
}

}  // namespace trainwarden::storage
