#include "ui/cli/options/list_choice.h"

#include <cmath>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

constexpr std::int64_t kOneSecond = 1'000'000'000;
constexpr std::int64_t kListedAt = 1'795'000'000 * kOneSecond;

std::vector<ListItem> some_items() {
  return {{"a-1", {"Completed", "Completed"}, "e", kListedAt - 10 * kOneSecond, {{"lr", 0.1}, {"opt", "sgd"}}},
          {"b-2", {"Training", "InProgress"}, "e", kListedAt - 20 * kOneSecond, {{"lr", 0.01}}},
          {"c-3", {"Failed", "Failed"}, "", kListedAt - 7200 * kOneSecond, {{"opt", "adam"}}},
          {"d-4", {"Failed", "Failed"}, "f", kListedAt - 5 * kOneSecond, {{"lr", std::nan("")}}}};
}

std::vector<std::size_t> chosen(const ListChoice& choice) {
  const auto places = choose(some_items(), choice, kListedAt);
  EXPECT_TRUE(places.ok()) << places.status().to_string();
  return places.value_or({});
}

using Places = std::vector<std::size_t>;

TEST(ListChoiceTest, TheNewestComeFirst) {
  EXPECT_EQ(chosen({}), (Places{3, 0, 1, 2}));
  EXPECT_EQ(chosen({.reverse = true}), (Places{2, 1, 0, 3}));
}

TEST(ListChoiceTest, FiltersMeetAllTogether) {
  EXPECT_EQ(chosen({.statuses = {"inprogress", "Completed"}}), (Places{0, 1}));
  EXPECT_EQ(chosen({.name = "^[ac]"}), (Places{0, 2}));
  EXPECT_EQ(chosen({.experiment = "e"}), (Places{0, 1}));
  EXPECT_EQ(chosen({.since = "15 s"}), (Places{3, 0}));
  EXPECT_EQ(chosen({.since = "2026-11-18"}), (Places{3, 0, 1, 2}));
  EXPECT_EQ(chosen({.since = "2126-11-18T00:00:00Z"}), Places{});
  EXPECT_EQ(chosen({.statuses = {"Failed"}, .since = "1 h"}), (Places{3}));
}

TEST(ListChoiceTest, SortsNumbersByTheirSizeAndWhatHasNoneLast) {
  EXPECT_EQ(chosen({.sort = "lr"}), (Places{1, 0, 2, 3}));
  EXPECT_EQ(chosen({.sort = "lr", .reverse = true}), (Places{0, 1, 2, 3}));
  EXPECT_EQ(chosen({.sort = "opt"}), (Places{2, 0, 1, 3}));
  EXPECT_EQ(chosen({.sort = "name"}), (Places{0, 1, 2, 3}));
  EXPECT_EQ(chosen({.sort = "status"}), (Places{0, 2, 3, 1}));
}

TEST(ListChoiceTest, MistakesAreNamed) {
  const auto fails = [](const ListChoice& choice, const std::string& part) {
    const Status status = choose(some_items(), choice, kListedAt).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  };
  fails({.columns = {"lt"}}, "did you mean \"lr\"?");
  fails({.sort = "lt"}, "did you mean \"lr\"?");
  fails({.name = "a("}, "a(");
  fails({.since = "yesterday"}, "expected how long ago");
  EXPECT_TRUE(choose({}, {.columns = {"lr"}}, kListedAt).ok())
      << "an empty list has no columns, and that is no mistake";
}

TEST(ListChoiceTest, ValuesAreNumbersOrTexts) {
  const auto values = list_values(R"({"lr":0.1,"opt":"adam","odd":[1],"none":null})");
  EXPECT_EQ(values, (std::map<std::string, ListValue>{{"lr", 0.1}, {"opt", "adam"}}));
  EXPECT_TRUE(list_values("").empty());
  EXPECT_TRUE(list_values("[damaged").empty());
  EXPECT_EQ(json_of(std::map<std::string, ListValue>{{"a", std::nan("")}, {"b", "x"}}).dump(),
            R"({"a":"NaN","b":"x"})");
}

}  // namespace
}  // namespace trainwarden::cli
