#include "work/jobs/hyperparameters.h"

#include <gtest/gtest.h>

namespace trainwarden::jobs {
namespace {

using Texts = std::vector<std::string>;

Texts arguments_of(std::string_view json) {
  const Result<document::DocumentValue> table = document::parse(json, "f");
  EXPECT_TRUE(table.ok()) << table.status().to_string();
  std::map<std::string, document::DocumentValue> hyperparameters;
  for (const auto& [name, value] : table.value_or({}).fields) hyperparameters.emplace(name, value);
  return script_arguments(hyperparameters);
}

// What mapping.to_cmd_args() of sagemaker-training 5.1.4 gave for the same mappings; so for the numbers below.
TEST(Hyperparameters, AreArgumentsAsTheToolkitGivesThem) {
  EXPECT_EQ(arguments_of(R"({"epochs": 3, "batch-size": 64, "b": 1, "lr": 0.1, "use_xla": true, "off": false,
                             "name": "bert base", "_tuning_objective_metric": "loss", "sagemaker_program": "a.py"})"),
            (Texts{"-b", "1", "--batch-size", "64", "--epochs", "3", "--lr", "0.1", "--name", "bert base", "--off",
                   "False", "--use_xla", "True"}));
  EXPECT_EQ(arguments_of(R"({"t": {"b": 2, "a": "x"}, "list": [1, 0.5, "it's", true, "a"]})"),
            (Texts{"--list", "[1, 0.5, \"it's\", True, 'a']", "-t", "a=x,b=2"}));
  EXPECT_EQ(arguments_of(R"({"n": null})"), (Texts{"-n", ""}));
  EXPECT_EQ(arguments_of("{}"), Texts{});
}

TEST(Hyperparameters, NumbersAreAsPythonPrintsThem) {
  EXPECT_EQ(arguments_of(R"({"x": 5e-05})")[1], "5e-05");
  EXPECT_EQ(arguments_of(R"({"x": 100000.0})")[1], "100000.0");
  EXPECT_EQ(arguments_of(R"({"x": 1e16})")[1], "1e+16");
  EXPECT_EQ(arguments_of(R"({"x": 1e15})")[1], "1000000000000000.0");
  EXPECT_EQ(arguments_of(R"({"x": 0.0001})")[1], "0.0001");
  EXPECT_EQ(arguments_of(R"({"x": -0.0})")[1], "-0.0");
  EXPECT_EQ(arguments_of("x = inf")[1], "inf");
  EXPECT_EQ(arguments_of("x = nan")[1], "nan");
}

}  // namespace
}  // namespace trainwarden::jobs
