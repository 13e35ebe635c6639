#include "work/catalogue/list_choice.h"

#include <cmath>

#include <gtest/gtest.h>

namespace trainwarden::catalogue {
namespace {

constexpr std::int64_t kOneSecond = 1'000'000'000;
constexpr std::int64_t kListedAt = 1'795'000'000 * kOneSecond;

experiments::MetricSummary values(std::initializer_list<double> all) {
  experiments::MetricSummary summary;
  for (const double value : all) summary.add(value, 1);
  return summary;
}

// c-3 has measured nothing but NaN.
std::vector<ListItem> some_items() {
  const auto at = [](std::int64_t seconds_ago) { return kListedAt - seconds_ago * kOneSecond; };
  return {{"a-1",
           {"Completed", "Completed"},
           "e",
           at(10),
           {{"lr", 0.1}, {"opt", "sgd"}},
           {{"ran", 60.0}},
           {{"loss", values({3, 1, 2})}, {"opt", values({7})}}},
          {"b-2", {"Training", "InProgress"}, "e", at(20), {{"lr", 0.01}}, {{"ran", 5.0}}, {{"loss", values({0.5})}}},
          {"c-3", {"Failed", "Failed"}, "", at(7200), {{"opt", "adam"}}, {}, {{"loss", values({std::nan("")})}}},
          {"d-4", {"Failed", "Failed"}, "f", at(5), {{"lr", std::nan("")}}, {}, {}}};
}

std::vector<std::size_t> chosen(const ListChoice& choice) {
  ListChoice with_statuses = choice;
  with_statuses.known_statuses = {"InProgress", "Training", "Completed", "Failed"};
  const auto places = choose(some_items(), with_statuses, kListedAt);
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
  EXPECT_EQ(chosen({.since = "1m"}), (Places{3, 0, 1}));
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

TEST(ListChoiceTest, NumbersOfMetricsAreValues) {
  const ListItem item = some_items()[0];
  EXPECT_EQ(value_of(item, "loss"), ListValue(2.0)) << "the last one";
  EXPECT_EQ(value_of(item, "loss.min"), ListValue(1.0));
  EXPECT_EQ(value_of(item, "Metrics.loss.Max"), ListValue(3.0));
  EXPECT_EQ(value_of(item, "loss.avg"), ListValue(2.0));
  EXPECT_EQ(value_of(item, "loss.Count"), ListValue(3.0));
  EXPECT_NEAR(std::get<double>(*value_of(item, "loss.stddev")), std::sqrt(2.0 / 3), 1e-12);
  EXPECT_EQ(value_of(item, "loss.median"), std::nullopt);
  EXPECT_EQ(value_of(item, "opt"), ListValue("sgd")) << "a hyper-parameter comes before a metric of its name";
  EXPECT_EQ(value_of(item, "Metrics.opt"), ListValue(7.0));
  EXPECT_EQ(value_of(item, "Parameters.loss"), std::nullopt);
  EXPECT_EQ(value_of(item, "ran"), ListValue(60.0));
  EXPECT_EQ(value_of(some_items()[2], "loss.min"), std::nullopt) << "of no finite value";
  EXPECT_TRUE(std::isnan(std::get<double>(*value_of(some_items()[2], "loss"))));
  EXPECT_EQ(chosen({.sort = "loss.max"}), (Places{1, 0, 2, 3}));
  EXPECT_EQ(chosen({.sort = "loss", .reverse = true}), (Places{0, 1, 2, 3})) << "NaN has no place among numbers";
}

TEST(ListChoiceTest, FiltersCompareValues) {
  EXPECT_EQ(chosen({.filters = {"lr > 0.05"}}), (Places{0}));
  EXPECT_EQ(chosen({.filters = {"lr <= 0.1", "loss < 1"}}), (Places{1}));
  EXPECT_EQ(chosen({.filters = {"opt != sgd"}}), (Places{2})) << "it has one, which is another";
  EXPECT_EQ(chosen({.filters = {"opt ~ da"}}), (Places{2}));
  EXPECT_EQ(chosen({.filters = {"opt In adam,sgd"}}), (Places{0, 2}));
  EXPECT_EQ(chosen({.filters = {"lr In 0.01,5"}}), (Places{1}));
  EXPECT_EQ(chosen({.filters = {"opt NotExists"}}), (Places{3, 1}));
  EXPECT_EQ(chosen({.filters = {"Metrics.loss Exists"}}), (Places{0, 1, 2}));
  EXPECT_EQ(chosen({.filters = {"lr = many"}}), Places{}) << "a number is no text";
  EXPECT_EQ(chosen({.filters = {"status = Failed", "name ~ c"}}), (Places{2}));
  EXPECT_EQ(chosen({.filters = {"nobody NotExists"}}).size(), 4u);
}

TEST(ListChoiceTest, MetricsAreReadOnlyForWhatIsNoHyperparameter) {
  const auto items = some_items();
  EXPECT_FALSE(needs_metrics(items, {}));
  EXPECT_FALSE(needs_metrics(items, {.filters = {"opt = sgd"}, .columns = {"lr"}, .sort = "time"}));
  EXPECT_TRUE(needs_metrics(items, {.columns = {"lr", "loss"}}));
  EXPECT_TRUE(needs_metrics(items, {.filters = {"loss.min < 1"}}));
  EXPECT_TRUE(needs_metrics(items, {.sort = "loss"}));
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
  fails({.filters = {"lr"}}, "is no filter");
  fails({.filters = {"lt > 1"}}, "did you mean \"lr\"?");
  fails({.columns = {"los"}}, "did you mean \"loss\"?");
  fails({.columns = {"accuracy"}}, "; there are loss, lr, opt, ran");
  fails({.since = "yesterday"}, "expected how long ago");
  fails({.statuses = {"Complted"}, .known_statuses = {"Completed", "Failed"}}, "did you mean \"Completed\"?");
  fails({.statuses = {"x"}, .known_statuses = {"Completed", "Failed"}}, "expected one of Completed, Failed");
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
}  // namespace trainwarden::catalogue
