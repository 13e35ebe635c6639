// Pages: memory of the system's own, outside of the heap of the program that we are in.
//
// A small allocation that stays in a training's heap, between large tensors that come and go, keeps their places from
// becoming one again: some hundred names have cost a hundred megabytes so. Allocations that are made in the training's
// threads, and kept, belong here.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace trainwarden {

// Whole pages of zeros; nullptr: the system has none.
void* take_pages(std::size_t bytes) noexcept;
void give_pages_back(void* memory, std::size_t bytes) noexcept;

// For what grows and is given back as a whole, such as a table of names. One thread at a time. Throws std::bad_alloc.
class PageArena : public std::pmr::monotonic_buffer_resource {
 public:
  PageArena();
};

}  // namespace trainwarden
