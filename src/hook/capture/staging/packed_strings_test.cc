#include "hook/capture/staging/packed_strings.h"

#include <gtest/gtest.h>

namespace trainwarden::capture {
namespace {

TEST(PackedStrings, ComeBackAsTheyWere) {
  const std::string_view strings[] = {"", "one", std::string_view("\0two\0", 5), "\xff", ""};
  std::vector<std::byte> memory(packed_string_bytes(strings));
  EXPECT_EQ(memory.size(), 5 * 8u + 3 + 5 + 1);
  pack_strings(strings, memory);
  const std::vector<std::string> back = unpack_strings(memory, 5);
  ASSERT_EQ(back.size(), 5u);
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i], strings[i]);
}

TEST(PackedStrings, NoStrings) {
  EXPECT_EQ(packed_string_bytes({}), 0u);
  pack_strings({}, {});
  EXPECT_TRUE(unpack_strings({}, 0).empty());
}

}  // namespace
}  // namespace trainwarden::capture
