// Memory for what is large: in huge pages where the system has some, since a run of a million steps is otherwise a
// hundred thousand page faults, which take longer than reading it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/bytes.h"

namespace trainwarden {

// Not cleared. Throws std::bad_alloc. Small requests are served as any other.
void* allocate_large(std::size_t bytes);
void free_large(void* memory, std::size_t bytes);

// For vectors that become long.
template <class T>
struct LargeAllocator {
  using value_type = T;
  LargeAllocator() = default;
  template <class U>
  explicit(false) LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_large(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) { free_large(memory, count * sizeof(T)); }
  friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }
};

// For so many elements more, without many small steps when it is called again and again.
template <class T>
void make_room(std::vector<T, LargeAllocator<T>>& elements, std::size_t count) {
  const std::size_t needed = elements.size() + count;
  if (needed > elements.capacity()) elements.reserve(std::max(needed, 2 * elements.capacity()));
}

// Bytes that nobody cleared.
class LargeBytes {
 public:
  LargeBytes() = default;
  explicit LargeBytes(std::size_t bytes)
      : bytes_(static_cast<std::byte*>(bytes == 0 ? nullptr : allocate_large(bytes)), bytes) {}
  LargeBytes(LargeBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  LargeBytes& operator=(LargeBytes&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~LargeBytes() {
    if (!bytes_.empty()) free_large(bytes_.data(), bytes_.size());
  }

  MutableByteSpan span() { return bytes_; }
  ByteSpan span() const { return bytes_; }

 private:
  MutableByteSpan bytes_;
};

}  // namespace trainwarden
