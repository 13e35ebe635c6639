#include "core/base/large_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace trainwarden {
namespace {

constexpr std::size_t kHugePageAlignment = std::size_t{2} << 20;
constexpr std::size_t kLeastLargeBytes = std::size_t{4} << 20;

}  // namespace

void* allocate_large(std::size_t bytes) {
  if (bytes < kLeastLargeBytes) return ::operator new(bytes);
  const std::size_t whole_pages = align_up(bytes, kHugePageAlignment);
  void* const memory = whole_pages < bytes ? nullptr : std::aligned_alloc(kHugePageAlignment, whole_pages);
  if (memory == nullptr) throw std::bad_alloc();
  static_cast<void>(::madvise(memory, whole_pages, MADV_HUGEPAGE));  // a hint
  return memory;
}

void free_large(void* memory, std::size_t bytes) {
  bytes < kLeastLargeBytes ? ::operator delete(memory) : std::free(memory);
}

}  // namespace trainwarden
