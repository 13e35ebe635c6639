#include "core/base/dynamic_library.h"

#include <gtest/gtest.h>

#include <array>

namespace trainwarden {
namespace {

TEST(DynamicLibraryTest, TakesTheFirstThatIsThere) {
  constexpr std::array kNames = {"libthere_is_none.so.7", "libm.so.6"};
  auto library = DynamicLibrary::load(kNames);
  ASSERT_TRUE(library.ok()) << library.status().to_string();
  double (*root)(double) = nullptr;
  library->find("sqrt", root);
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root(9), 3);
  EXPECT_EQ(library->missing(), "");
}

TEST(DynamicLibraryTest, SaysWhatIsMissing) {
  constexpr std::array kNames = {"libm.so.6"};
  auto library = DynamicLibrary::load(kNames);
  ASSERT_TRUE(library.ok());
  void (*first)() = nullptr;
  void (*second)() = nullptr;
  library->find("no_such_function", first);
  library->find("nor_this_one", second);
  EXPECT_EQ(first, nullptr);
  EXPECT_EQ(library->missing(), "no_such_function");
}

TEST(DynamicLibraryTest, ALibraryThatIsNotThereIsUnavailable) {
  constexpr std::array kNames = {"libthere_is_none.so.7", "libnor_this.so"};
  const Status status = DynamicLibrary::load(kNames).status();
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_NE(status.message().find("libthere_is_none.so.7"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace trainwarden
