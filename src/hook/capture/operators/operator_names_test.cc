#include "hook/capture/operators/operator_names.h"

#include <gtest/gtest.h>

#include <cstring>

namespace trainwarden::capture {
namespace {

TEST(OperatorNames, AreKeptOnce) {
  OperatorNames names;
  NameCache one;
  NameCache other;
  const std::string copy = "aten::mm";
  const std::uint32_t number = names.number_of("aten::mm", one);
  EXPECT_EQ(names.number_of("aten::mm", one), number);
  EXPECT_EQ(names.number_of(copy.c_str(), other), number);
  EXPECT_EQ(names.name(number), "aten::mm");
  EXPECT_NE(names.number_of("aten::add", one), number);
}

TEST(OperatorNames, AnAddressMayComeToHoldAnotherName) {
  OperatorNames names;
  NameCache cache;
  char place[16] = "first";
  const std::uint32_t first = names.number_of(place, cache);
  std::strcpy(place, "first of all");
  const std::uint32_t second = names.number_of(place, cache);
  EXPECT_EQ(names.name(first), "first");
  EXPECT_EQ(names.name(second), "first of all");
  std::strcpy(place, "first");
  EXPECT_EQ(names.number_of(place, cache), first);
}

TEST(OperatorNames, HaveLimits) {
  OperatorNames names;
  NameCache cache;
  const std::string endless(10 * OperatorNames::kMaxNameBytes, 'a');
  const std::uint32_t cut = names.number_of(endless.c_str(), cache);
  EXPECT_EQ(names.name(cut).size(), OperatorNames::kMaxNameBytes);
  EXPECT_EQ(names.number_of(endless.c_str(), cache), cut);
  for (std::size_t i = 0; i < OperatorNames::kMaxNames; ++i) names.number_of(std::to_string(i).c_str(), cache);
  EXPECT_EQ(names.name(names.number_of("one too many", cache)), "(other)");
  EXPECT_EQ(names.name(names.number_of(nullptr, cache)), "(other)");
  EXPECT_EQ(names.name(names.number_of("17", cache)), "17");
}

}  // namespace
}  // namespace trainwarden::capture
