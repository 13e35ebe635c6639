#include "data/foreign/smdebug_profiler_config.h"

#include <gtest/gtest.h>

#include <string>

namespace trainwarden::foreign {
namespace {

SmdebugProfilerConfig parsed(std::string_view json) {
  const auto config = parse_smdebug_profiler_config(json);
  EXPECT_TRUE(config.ok()) << config.status().to_string();
  return config.value_or({});
}

std::string mistake(std::string_view json) {
  const auto config = parse_smdebug_profiler_config(json);
  EXPECT_EQ(config.status().code(), Code::kInvalidArgument) << json;
  return config.status().message();
}

TEST(SmdebugProfilerConfigTest, WhatTheSdkWrites) {
  const auto config =
      parsed(R"({"ProfilingIntervalInMilliseconds": 500, "DisableProfiler": false, "ProfilingParameters": {
    "LocalPath": "/opt/ml/output/profiler/", "ProfilerEnabled": "True",
    "DetailedProfilingConfig": "{\"StartStep\": 5, \"NumSteps\": 10}",
    "PythonProfilingConfig": "{\"StartStep\": 9, \"NumSteps\": 3, \"ProfilerName\": \"cProfile\"}",
    "DataloaderProfilingConfig": "{\"StartStep\": 7, \"NumSteps\": 1, \"MetricsRegex\": \".*\"}"}})");
  EXPECT_FALSE(config.disabled);
  EXPECT_TRUE(config.framework);
  EXPECT_EQ(config.interval_ms, 500);
  EXPECT_EQ(config.operators, (SmdebugProfileRange{5, 10, {}, {}}));
  EXPECT_EQ(config.stacks, (SmdebugProfileRange{9, 3, {}, {}}));
  EXPECT_EQ(config.without_effect.size(), 4u) << "a path, a profiler's name, a data loader and its pattern";
}

TEST(SmdebugProfilerConfigTest, KeysAndValuesInAnyCaseAndDictsOfPython) {
  const auto config =
      parsed(R"({"profilingPARAMETERS": {"detailedprofilingCONFIG": "{'STARTSTEP': 0, 'NumSteps': '2'}"},
    "DISABLEPROFILER": "FALSE"})");
  EXPECT_EQ(config.operators, (SmdebugProfileRange{0, 2, {}, {}})) << "a start of 0 counts";
  EXPECT_EQ(parsed(R"({"ProfilingParameters": {"PythonProfilingConfig": "{'StartStep': None}"}})").stacks,
            SmdebugProfileRange());
}

TEST(SmdebugProfilerConfigTest, TimesUnderBothNames) {
  for (const char* key : {"Duration", "DurationInSeconds"}) {
    const auto config = parsed(std::string(R"({"ProfilingParameters": {"DetailedProfilingConfig": {")") + key +
                               R"(": 30, "StartTimeInSecSinceEpoch": 1600000000}}})");
    ASSERT_TRUE(config.operators);
    EXPECT_EQ(config.operators->seconds, 30);
    EXPECT_EQ(config.operators->start_unix_seconds, 1600000000);
  }
}

TEST(SmdebugProfilerConfigTest, SwitchedOff) {
  EXPECT_TRUE(parsed(R"({"DisableProfiler": true})").disabled);
  const auto off =
      parsed(R"({"ProfilingParameters": {"ProfilerEnabled": false, "DetailedProfilingConfig": "{\"StartStep\": 1}"}})");
  EXPECT_FALSE(off.framework);
  EXPECT_FALSE(off.operators);
  EXPECT_FALSE(parsed("{}").framework);
}

TEST(SmdebugProfilerConfigTest, MistakesAreNamed) {
  EXPECT_NE(mistake("nonsense").find("expected JSON"), std::string::npos);
  EXPECT_NE(mistake("[]").find("expected a JSON object"), std::string::npos);
  EXPECT_NE(mistake(R"({"ProfilingIntervalInMilliseconds": "often"})").find("whole number from 10"), std::string::npos);
  EXPECT_NE(mistake(R"({"DisableProfiler": "perhaps"})").find("true or false"), std::string::npos);
  EXPECT_NE(mistake(R"({"ProfilingParameters": {"DetailedProfilingConfig": "{'StartStep': 1, 'Duration': 5}"}})")
                .find("either steps or times"),
            std::string::npos);
  const std::string code = "{\"ProfilingParameters\": {\"DetailedProfilingConfig\": \"__import__('os')\"}}";
  EXPECT_NE(mistake(code).find("a text with a dict"), std::string::npos) << "it is read, and never run";
  EXPECT_NE(mistake(R"({"ProfilingParameters": {"PythonProfilingConfig": "{\"NumSteps\": 0}"}})").find("from 1 on"),
            std::string::npos);
}

TEST(SmdebugProfilerConfigTest, UnknownKeysAreSaidToHaveNoEffect) {
  const auto config =
      parsed(R"({"Profling": 1, "ProfilingParameters": {"HorovodProfilingConfig": "{'StartStep': 1}"}})");
  ASSERT_EQ(config.without_effect.size(), 2u);
  EXPECT_NE(config.without_effect[0].find("horovodprofilingconfig"), std::string::npos);
  EXPECT_NE(config.without_effect[1].find("no such key"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::foreign
