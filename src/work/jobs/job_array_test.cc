#include "work/jobs/job_array.h"

#include <gtest/gtest.h>

#include "work/jobs/hyperparameters.h"

namespace trainwarden::jobs {
namespace {

using Texts = std::vector<std::string>;

Texts values_in(std::string_view text) {
  const Result<ArrayAxis> axis = parse_axis(text);
  EXPECT_TRUE(axis.ok()) << axis.status().to_string();
  Texts values;
  for (const auto& value : axis.ok() ? axis->values : std::vector<document::DocumentValue>()) {
    values.push_back(argument_text(value));
  }
  return values;
}

TEST(JobArray, AnAxisIsAListOrARange) {
  EXPECT_EQ(values_in("lr=0.1,1e-2"), (Texts{"0.1", "0.01"}));
  EXPECT_EQ(values_in("seed=-1..2"), (Texts{"-1", "0", "1", "2"}));
  EXPECT_EQ(values_in("seed=7..7"), Texts{"7"});
  EXPECT_EQ(values_in("name=a..b,true"), (Texts{"a..b", "True"}));
  EXPECT_EQ(values_in("equation=a=b"), Texts{"a=b"});
  EXPECT_EQ(values_in("layers=[64,32],[128],{'a': [1, 2]}"), (Texts{"[64,32]", "[128]", "{'a': [1, 2]}"}));
  EXPECT_EQ(values_in("text=a],b"), (Texts{"a]", "b"}));
  for (const char* wrong : {"lr", "=1", ""}) EXPECT_EQ(parse_axis(wrong).status().code(), Code::kInvalidArgument);
}

TEST(JobArray, HasAPointForEachCombination) {
  const auto points = points_of({*parse_axis("a=1,2"), *parse_axis("b=x,y,z")});
  ASSERT_TRUE(points.ok()) << points.status().to_string();
  Texts texts;
  for (const ArrayPoint& point : *points) texts.push_back(argument_text(point.at("a")) + argument_text(point.at("b")));
  EXPECT_EQ(texts, (Texts{"1x", "1y", "1z", "2x", "2y", "2z"}));
  EXPECT_EQ(name_in_array("sweep", 5), "sweep-5");
}

TEST(JobArray, ARangeGoesUpInWholeNumbersAndStandsAlone) {
  const auto mistake = [](const char* text) { return parse_axis(text).status().message(); };
  EXPECT_EQ(mistake("N=9..1"), "array: N: expected a range that goes up, as in 1..9, found \"9..1\"");
  EXPECT_NE(mistake("g=1..2.5").find("array: g: expected whole numbers"), std::string::npos) << mistake("g=1..2.5");
  EXPECT_NE(mistake("g=0.1..1").find("array: g: expected whole numbers"), std::string::npos) << mistake("g=0.1..1");
  EXPECT_NE(mistake("g=1..3,7").find("found the range 1..3 in a list"), std::string::npos) << mistake("g=1..3,7");
}

TEST(JobArray, AValueIsThereOnce) {
  const auto points = points_of({*parse_axis("a=1,2"), *parse_axis("g=1,3,1")});
  ASSERT_FALSE(points.ok());
  EXPECT_EQ(points.status().message(), "array: g: has 1 twice");
}

TEST(JobArray, IsBounded) {
  EXPECT_EQ(points_of({*parse_axis("a=1..1000")})->size(), 1000U);
  EXPECT_FALSE(points_of({*parse_axis("a=1..1001")}).ok());
  EXPECT_FALSE(points_of({*parse_axis("a=0..9223372036854775807")}).ok());
  EXPECT_FALSE(points_of({*parse_axis("a=1..40"), *parse_axis("b=1..40")}).ok());
  EXPECT_FALSE(points_of({*parse_axis("a=1"), *parse_axis("a=2")}).ok());
}

TEST(JobArray, IsReadFromAJobsFile) {
  document::Mistakes mistakes;
  const auto top = document::parse("lr = [0.1, 0.01]\nseed = '1..3'\n", "job");
  ASSERT_TRUE(top.ok());
  EXPECT_EQ(points_of(read_axes(*top, mistakes))->size(), 6U);
  EXPECT_FALSE(mistakes.any());
  const auto wrong = document::parse("lr = 0.1\nempty = []\nseed = '3..1'\nhalf = '1..2.5'\n", "job");
  ASSERT_TRUE(wrong.ok());
  read_axes(*wrong, mistakes);
  EXPECT_EQ(mistakes.count(), 4U);
  document::Mistakes twice;
  const auto same = document::parse("lr = [0.1, 0.1]\n", "job");
  ASSERT_TRUE(same.ok());
  read_axes(*same, twice);
  EXPECT_EQ(twice.count(), 1U);
}

}  // namespace
}  // namespace trainwarden::jobs
