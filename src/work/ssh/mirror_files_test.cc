#include "work/ssh/mirror_files.h"

#include <gtest/gtest.h>

#include "work/ssh/ssh_testing.h"

namespace trainwarden::ssh {
namespace {

TEST(MirrorFiles, EachKindHasItsWay) {
  EXPECT_EQ(way_of("job/state/000002.json"), MirrorWay::kOnce);
  EXPECT_EQ(way_of("job/output.log"), MirrorWay::kAppended);
  EXPECT_EQ(way_of("job/agent.log"), MirrorWay::kAppended);
  EXPECT_EQ(way_of("job/ranks/0.log"), MirrorWay::kAppended);
  EXPECT_EQ(way_of("job/rules/LossSpike.log"), MirrorWay::kAppended);
  EXPECT_EQ(way_of("job/rules/LossSpike.json"), MirrorWay::kWhole);
  EXPECT_EQ(way_of("run/journal/rank-00000/seg-00000001.tw"), MirrorWay::kAppended);
  EXPECT_EQ(way_of("run/run.json"), MirrorWay::kWhole);
  EXPECT_EQ(way_of("run/journal/rank-00000/writer.lease"), MirrorWay::kWhole);
  EXPECT_EQ(way_of("job/attempts/1/exit.json"), MirrorWay::kWhole);
  EXPECT_EQ(way_of("job/output/model.tar.gz"), MirrorWay::kWhole);
  EXPECT_EQ(way_of("job/rule-output/ProfilerReport/profiler-output/profiler-report.html"), MirrorWay::kWhole);
}

TEST(MirrorFiles, NothingElseIsTouched) {
  for (const char* path : {"job/job.json",
                           "job/ssh/target.json",
                           "job/environment-1-2",
                           "job/code-1-2/train.py",
                           "job/agent.lock",
                           "job/agent.lease",
                           "job/checkpoints/last.pt",
                           "job/ml/model/model.pt",
                           "job/state/../../x",
                           "job/state/1.json",
                           "job/rules/run.sh",
                           "job/state/000002.json.tmp",
                           "job/output/../job.json",
                           "job/output/.ssh",
                           "job/rule-output/../job.json",
                           "run/../job.json",
                           "run//x",
                           "run/",
                           "run/journal/writer.lock",
                           "run/checkpoints/step-1.pt",
                           "/etc/passwd",
                           "../x",
                           "etc/passwd",
                           "",
                           "job",
                           "run",
                           "job/x.log/../y",
                           "run/\xff"}) {
    EXPECT_EQ(way_of(path), MirrorWay::kNever) << path;
  }
}

TEST(MirrorFiles, LinksAreLeftOutAndTransitionsComeFirst) {
  SentJob job;
  job.advance(jobs::JobPhase::kStarting);
  job.write("first/output.log", "1");
  job.write("first/code-1/train.py", "1");
  job.write("run/run.json", "{}");
  std::filesystem::create_symlink("/etc/passwd", job.side("there") / "first" / "leak.log");
  std::filesystem::create_directory_symlink("/etc", job.side("there") / "run" / "journal");
  const auto files = list_mirrored({job.there.place(), storage::Location(job.there.order().run)});
  ASSERT_TRUE(files.ok()) << files.status().to_string();
  std::vector<std::string> paths;
  for (const MirroredFile& file : *files) paths.push_back(file.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"job/state/000002.json", "job/output.log", "run/run.json"}));
}

}  // namespace
}  // namespace trainwarden::ssh
