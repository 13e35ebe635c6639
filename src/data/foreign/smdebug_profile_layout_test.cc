#include "data/foreign/smdebug_profile_layout.h"

#include <gtest/gtest.h>

namespace trainwarden::foreign {
namespace {

TEST(SmdebugProfileLayoutTest, TimelinesAreNamedByTheirEndAndNode) {
  const auto rotated = parse_smdebug_timeline_name("1594662624718694_905-b88ab1bb8259_pythontimeline.json");
  ASSERT_TRUE(rotated);
  EXPECT_EQ(rotated->end_unix_us, 1594662624718694);
  EXPECT_EQ(rotated->node, "905-b88ab1bb8259");
  EXPECT_EQ(rotated->timeline, SmdebugTimeline::kPython);
  const auto early = parse_smdebug_timeline_name("1589930988000000_4487_0000_pythontimeline.json");
  ASSERT_TRUE(early);
  EXPECT_EQ(early->node, "4487");
  const auto model = parse_smdebug_timeline_name("1590461127873222_0001_model_timeline.json");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->timeline, SmdebugTimeline::kModel);
  const auto unfinished = parse_smdebug_timeline_name("7-host_smdataparallel_timeline.json.tmp");
  ASSERT_TRUE(unfinished);
  EXPECT_FALSE(unfinished->end_unix_us);
  EXPECT_EQ(unfinished->timeline, SmdebugTimeline::kDataParallel);
  for (const char* other : {"pythontimeline.json", "_pythontimeline.json", "x_n_pythontimeline.json",
                            "1_n_pythontimeline.json.gz", "1_n_merged_timeline.json", "1_pythontimeline.json", ""}) {
    EXPECT_FALSE(parse_smdebug_timeline_name(other)) << other;
  }
}

TEST(SmdebugProfileLayoutTest, SystemFilesAreNamedByTheirMinuteAndNode) {
  const auto name = parse_smdebug_system_name("1591748100.algo-12.json");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->unix_seconds, 1591748100);
  EXPECT_EQ(name->node, "algo-12");
  EXPECT_EQ(smdebug_system_file(1591748159, "algo-1"), "system/incremental/2020061000/1591748100.algo-1.json");
  for (const char* other :
       {"1591748100.algo-1.json.corrupt", "algo-1.json", "-1.algo-1.json", "1591748100.host.json", ".algo-1.json"}) {
    EXPECT_FALSE(parse_smdebug_system_name(other)) << other;
  }
}

TEST(SmdebugProfileLayoutTest, WhatIsWrittenIsReadAgain) {
  const std::string path = smdebug_timeline_file(1589930988123456, "3-host", SmdebugTimeline::kHorovod);
  EXPECT_EQ(path, "framework/pevents/2020051923/1589930988123456_3-host_horovod_timeline.json");
  const auto name = parse_smdebug_timeline_name(path.substr(path.rfind('/') + 1));
  ASSERT_TRUE(name);
  EXPECT_EQ(name->end_unix_us, 1589930988123456);
  EXPECT_EQ(smdebug_node("rank_3 of/host.example"), "rank-3-of-host.example");
}

TEST(SmdebugProfileLayoutTest, TimesOfATraceOfTensorFlow) {
  const auto times = parse_smdebug_trace_times("151-algo_1_1596634665000000.5_1596634685000000.metadata");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->node, "151-algo_1");
  EXPECT_EQ(times->begin_unix_us, 1596634665000000);
  EXPECT_EQ(times->end_unix_us, 1596634685000000);
  for (const char* other : {"1_2.metadata", "a_b_c.metadata", "n_2_1.metadata", ".metadata", "n_1_2.json"}) {
    EXPECT_FALSE(parse_smdebug_trace_times(other)) << other;
  }
}

}  // namespace
}  // namespace trainwarden::foreign
