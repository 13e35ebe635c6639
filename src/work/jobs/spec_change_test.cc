#include "work/jobs/spec_change.h"

#include <gtest/gtest.h>

#include "work/jobs/hyperparameters.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::jobs {
namespace {

JobSpec spec_in(std::string_view text) {
  const Result<document::DocumentValue> top = document::parse(text, "job");
  EXPECT_TRUE(top.ok()) << top.status().to_string();
  document::Mistakes mistakes;
  const JobSpec spec = read_job_spec(top.value_or({}), mistakes);
  EXPECT_FALSE(mistakes.any()) << mistakes.status().message();
  return spec;
}

JobSpec changed(std::string_view text, const SpecChange& change) {
  const Result<std::string> made = changed_spec(text, change);
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return spec_in(made.value_or(""));
}

std::string parameter(const JobSpec& spec, const std::string& name) {
  return argument_text(spec.hyperparameters.at(name));
}

TEST(SpecChange, ChangesWhatItNamesAndNothingElse) {
  const char* const text =
      "name = 'a'\nEntryPoint = 'train.py'\nSource_Dir = 'src'\ndependencies = ['lib']\nmax_run = '2 h'\n"
      "tags = {k = 'v'}\n[HyperParameters]\nlr = 0.1\nepochs = 3\nfast = true\nlist = [1, 'b']\nbig = inf\n"
      "[array]\nlr = [1, 2]\n";
  const JobSpec before = spec_in(text);
  EXPECT_EQ(before.array.size(), 1U);
  const JobSpec after = changed(text, {.hyperparameters = {{"lr", scalar_value("0.5")}, {"seed", scalar_value("7")}},
                                       .source_dir = "/jobs/old/code"});
  EXPECT_EQ(after.source_dir, "/jobs/old/code");
  EXPECT_TRUE(after.dependencies.empty());
  EXPECT_TRUE(after.array.empty());
  EXPECT_EQ(after.name, "a");
  EXPECT_EQ(after.limits.max_run_seconds, 7200);
  EXPECT_EQ(after.tags, before.tags);
  EXPECT_EQ(parameter(after, "lr"), "0.5");
  EXPECT_EQ(parameter(after, "seed"), "7");
  for (const char* same : {"epochs", "fast", "list", "big"}) EXPECT_EQ(parameter(after, same), parameter(before, same));
}

TEST(SpecChange, AddsHyperparametersWhereThereAreNone) {
  const JobSpec after =
      changed(R"({"program": "true"})", {.hyperparameters = {{"n", scalar_value("x")}}, .source_dir = ""});
  EXPECT_EQ(parameter(after, "n"), "x");
  EXPECT_EQ(changed_spec("[{}]", {}).status().code(), Code::kInvalidArgument);
}

TEST(SpecChange, AnAssignmentHasANameAndAValue) {
  const auto one = parse_assignment("a=b=c", "--set");
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->name, "a");
  EXPECT_EQ(one->text, "b=c");
  EXPECT_NE(parse_assignment("lr", "--set").status().message().find("--set: expected"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::jobs
