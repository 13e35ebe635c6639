#include "core/base/pages.h"

#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace trainwarden {
namespace {

TEST(Pages, AreWholeAndCleared) {
  void* const memory = take_pages(5000);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 4096, 0u);
  EXPECT_EQ(std::string(static_cast<const char*>(memory), 5000), std::string(5000, '\0'));
  std::memset(memory, 1, 5000);
  give_pages_back(memory, 5000);
}

TEST(Pages, AreRefusedWhereThereAreNone) {
  EXPECT_EQ(take_pages(std::size_t{1} << 60), nullptr);
}

TEST(Pages, AnArenaLiesInThem) {
  PageArena arena;
  const void* const first = arena.allocate(10);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 4096, 0u);
  std::pmr::vector<std::pmr::string> names(&arena);
  for (int i = 0; i < 1000; ++i) names.emplace_back("a name that is too long to lie within its string");
  EXPECT_EQ(names.front(), names.back());
  EXPECT_EQ(names.front().get_allocator().resource(), &arena);
}

}  // namespace
}  // namespace trainwarden
