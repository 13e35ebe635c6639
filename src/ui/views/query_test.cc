#include "ui/views/query.h"

#include <gtest/gtest.h>

namespace trainwarden::views {
namespace {

TEST(Query, ReadsNumbersWithinTheirLimits) {
  const Query query(Query::Parameters{{"step", "12"}, {"far", "99"}, {"word", "x"}, {"heads", "0,3"}});
  EXPECT_EQ(*query.integer("step", 0, 20, -1), 12);
  EXPECT_EQ(*query.integer("absent", 0, 20, -1), -1);
  EXPECT_EQ(*query.integers("heads", 0, 11, 4), (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(query.integer("far", 0, 20, 0).status().message(),
            "parameter \"far\": expected a whole number from 0 to 20, found \"99\"");
  EXPECT_EQ(query.required_integer("absent", 0, 1).status().message(), "parameter \"absent\" is missing");
  EXPECT_FALSE(query.number("word", 0).ok());
  EXPECT_FALSE(query.integers("heads", 0, 11, 1).ok());
}

TEST(Query, NamesTheNearestOfAnUnknownParameter) {
  const Query query(Query::Parameters{{"setp", "1"}});
  EXPECT_EQ(query.only({"step", "mode"}).message(),
            "there is no parameter \"setp\" here; did you mean \"step\"? Known are: step, mode");
  EXPECT_TRUE(Query(Query::Parameters{{"mode", "eval"}}).only({"step", "mode"}).ok());
}

TEST(Query, KnowsModes) {
  EXPECT_EQ(*Query(Query::Parameters{{"mode", "eval"}}).mode(), Mode::kEval);
  EXPECT_EQ(*Query().mode(), std::nullopt);
  EXPECT_FALSE(Query(Query::Parameters{{"mode", "night"}}).mode().ok());
}

}  // namespace
}  // namespace trainwarden::views
