// OperatorNames: the names of operators, each kept once and known by a number. NameCache: those that a thread has met.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory_resource>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/pages.h"

namespace trainwarden::capture {

// Of one thread: by the address that a name comes from.
class NameCache {
 public:
  struct Entry {
    const char* address = nullptr;
    const char* text = nullptr;  // as it is kept: what lies at an address may change
    std::uint32_t number = 0;
  };
  Entry& entry_for(const char* address) {
    return entries_[(reinterpret_cast<std::uintptr_t>(address) >> 4) % entries_.size()];
  }

 private:
  std::array<Entry, 509> entries_;
};

// Any thread.
class OperatorNames {
 public:
  static constexpr std::size_t kMaxNames = 8192;     // what comes then is kOther
  static constexpr std::size_t kMaxNameBytes = 512;  // the rest of a name is left out
  static constexpr std::uint32_t kOther = 0;         // "(other)"

  OperatorNames();

  // No lock where the cache has it. May throw std::bad_alloc.
  std::uint32_t number_of(const char* name, NameCache& cache);
  // With the lock. May throw std::bad_alloc.
  std::uint32_t number_of(std::string_view name);
  std::string name(std::uint32_t number) const;

 private:
  const std::pmr::string* keep(std::string_view name, std::uint32_t& number);

  mutable std::mutex mutex_;
  PageArena arena_;  // these guarded by mutex_; no name is ever removed
  std::pmr::deque<std::pmr::string> names_{&arena_};
  std::pmr::map<std::string_view, std::uint32_t> numbers_{&arena_};
};

}  // namespace trainwarden::capture
