#include "trainwarden/status.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "trainwarden/mode.h"
#include "trainwarden/version.h"

namespace trainwarden {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return Status(Code::kInvalidArgument, "odd");
  return value / 2;
}

Result<int> quarter(int value) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const int once, half(value));
  TRAINWARDEN_ASSIGN_OR_RETURN(const int twice, half(once));
  return twice;
}

Status check_even(int value, int* checked) {
  TRAINWARDEN_RETURN_IF_ERROR(half(value).status());
  ++*checked;
  return {};
}

TEST(Status, DefaultIsOk) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), Code::kOk);
  EXPECT_EQ(status.to_string(), "ok");
  EXPECT_TRUE(status.with_context("ignored").ok());
}

TEST(Status, SaysCodeAndMessage) {
  const Status status(Code::kNotFound, "no run at ./runs/x");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.to_string(), "not found: no run at ./runs/x");
  const Status within = status.with_context("opening");
  EXPECT_EQ(within.code(), Code::kNotFound);
  EXPECT_EQ(within.to_string(), "not found: opening: no run at ./runs/x");
}

TEST(Status, EveryCodeHasItsOwnName) {
  for (int a = 0; a <= static_cast<int>(Code::kNeedMore); ++a) {
    EXPECT_NE(name(static_cast<Code>(a)), "unknown code");
    for (int b = 0; b < a; ++b) EXPECT_NE(name(static_cast<Code>(a)), name(static_cast<Code>(b)));
  }
  EXPECT_EQ(name(static_cast<Code>(99)), "unknown code");
}

TEST(Result, HoldsValueOrStatus) {
  EXPECT_TRUE(half(4).ok());
  EXPECT_EQ(*half(4), 2);
  EXPECT_TRUE(half(4).status().ok());
  EXPECT_EQ(half(3).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(half(3).value_or(7), 7);
  EXPECT_EQ(half(8).value_or(7), 4);
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  ASSERT_TRUE(result.ok());
  const std::unique_ptr<int> owned = std::move(result).value();
  EXPECT_EQ(*owned, 5);
}

TEST(Result, TakesAnotherValueOrStatus) {
  static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
  static_assert(std::is_nothrow_move_constructible_v<Result<std::string>>);
  const std::string text = "too long to lie in the object itself";
  Result<std::string> result = text;
  const Result<std::string> copy = result;
  result = Status(Code::kNotFound, text + ", nor does this");
  EXPECT_EQ(result.status().message(), text + ", nor does this");
  EXPECT_EQ(*copy, text);
  result = copy;
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result.status().ok());
  Result<std::string>& same = result;
  result = same;
  EXPECT_EQ(*result, text);
}

TEST(Result, LiesInAVectorThatGrows) {
  std::vector<Result<std::unique_ptr<int>>> results;
  for (int i = 0; i < 20; ++i) {
    results.emplace_back(std::make_unique<int>(i));
    results.emplace_back(Status(Code::kNotFound, "none"));
  }
  results[1] = std::move(results[38]);
  EXPECT_EQ(**results[1], 19);
  results[0] = Status(Code::kAborted, "given up");
  EXPECT_EQ(results[0].status().code(), Code::kAborted);
}

TEST(StatusMacros, StopAtTheFirstError) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).status().message(), "odd");
  EXPECT_EQ(quarter(5).status().message(), "odd");
  int checked = 0;
  EXPECT_TRUE(check_even(2, &checked).ok());
  EXPECT_EQ(check_even(3, &checked).code(), Code::kInvalidArgument);
  EXPECT_EQ(checked, 1);
}

TEST(Mode, NamesParseBack) {
  for (const Mode mode : kAllModes) EXPECT_EQ(parse_mode(name(mode)), mode);
  EXPECT_EQ(parse_mode("TRAIN"), Mode::kTrain);
  EXPECT_EQ(parse_mode("training"), std::nullopt);
  EXPECT_EQ(index_of(Mode::kTrain), 0u);
  EXPECT_EQ(index_of(Mode::kGlobal), 3u);
}

TEST(Version, HasThreeNumbers) {
  const std::string_view text = version();
  EXPECT_EQ(std::count(text.begin(), text.end(), '.'), 2);
}

}  // namespace
}  // namespace trainwarden
