#include "core/base/pages.h"

#include <sys/mman.h>

#include <new>

namespace trainwarden {
namespace {

constexpr std::size_t kFirstBytes = std::size_t{16} << 10;  // then always more

class PageResource : public std::pmr::memory_resource {
 private:
  void* do_allocate(std::size_t bytes, std::size_t) override {
    void* const memory = take_pages(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t) override { give_pages_back(memory, bytes); }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

// Is there as long as anybody may use it.
std::pmr::memory_resource* page_resource() {
  static auto* const resource = new PageResource;
  return resource;
}

}  // namespace

void* take_pages(std::size_t bytes) noexcept {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void give_pages_back(void* memory, std::size_t bytes) noexcept {
  ::munmap(memory, bytes);
}

PageArena::PageArena() : monotonic_buffer_resource(kFirstBytes, page_resource()) {}

}  // namespace trainwarden
