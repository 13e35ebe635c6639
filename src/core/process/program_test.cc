#include "core/process/program.h"

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

namespace trainwarden::process {
namespace {

bool contains(const std::vector<std::string>& entries, const std::string& entry) {
  return std::find(entries.begin(), entries.end(), entry) != entries.end();
}

TEST(EnvironmentWith, SetsAndRemoves) {
  ::setenv("TW_ONE", "1", 1);
  ::setenv("TW_TWO", "2", 1);
  ::setenv("TW_TWO_MORE", "3", 1);
  const auto entries = environment_with({{{"TW_ONE", "new"}, {"TW_THREE", "a=b"}}, {"TW_TWO", "TW_ONE"}});
  EXPECT_TRUE(contains(entries, "TW_ONE=new")) << "what is removed and set is set";
  EXPECT_FALSE(contains(entries, "TW_ONE=1"));
  EXPECT_TRUE(contains(entries, "TW_THREE=a=b"));
  EXPECT_FALSE(contains(entries, "TW_TWO=2"));
  EXPECT_TRUE(contains(entries, "TW_TWO_MORE=3"));
  for (const char* name : {"TW_ONE", "TW_TWO", "TW_TWO_MORE"}) ::unsetenv(name);
}

}  // namespace
}  // namespace trainwarden::process
