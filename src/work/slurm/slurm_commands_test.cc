#include "work/slurm/slurm_commands.h"

#include <gtest/gtest.h>

#include "work/slurm/slurm_testing.h"

namespace trainwarden::slurm {
namespace {

using namespace std::chrono_literals;

TEST(SlurmCommands, AreLookedForInAbsoluteFolders) {
  const FakeSlurm slurm;
  EXPECT_TRUE(SlurmCommands::find("relative:" + slurm.folder().string()).ok());
  std::filesystem::remove(slurm.folder() / "sacct");
  EXPECT_TRUE(SlurmCommands::find(slurm.folder().string()).ok()) << "not all sites have accounting";
  std::filesystem::remove(slurm.folder() / "sbatch");
  const Status status = SlurmCommands::find(slurm.folder().string()).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_NE(status.message().find("sbatch is not in PATH"), std::string::npos) << status.message();
}

TEST(SlurmCommands, GiveWhatTheProgramPrints) {
  const FakeSlurm slurm;
  slurm.answers("sbatch", "echo warning >&2; printf '%s;' \"$@\"");
  EXPECT_EQ(slurm.commands().run(SlurmTool::kSbatch, {"--a=b c", "d"}).value_or("failed"), "--a=b c;d;");
}

TEST(SlurmCommands, ThatHangAreKilledAndNobodyKnowsWhatTheyHaveDone) {
  const FakeSlurm slurm;
  slurm.answers("scancel", "sleep 600");
  EXPECT_EQ(slurm.commands().run(SlurmTool::kScancel, {"1"}, 200ms).status().code(), Code::kUnavailable);
  slurm.answers("scancel", "kill -9 $$");
  EXPECT_EQ(slurm.commands().run(SlurmTool::kScancel, {"1"}).status().code(), Code::kUnavailable);
}

// What Slurm 22.05.8 has said.
TEST(SlurmCommands, TellARefusalFromAnOutage) {
  const struct {
    const char* words;
    Code code;
    const char* message;
  } cases[] = {
      {"slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n", Code::kUnavailable,
       "squeue: slurm_load_jobs error: Unable to contact slurm controller (connect failure); it may answer later"},
      {"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n", Code::kUnavailable,
       nullptr},
      {"squeue: error: Munge encode failed: Failed to access \"/x/munge.socket\"\nx\n", Code::kUnavailable, nullptr},
      {"slurm_load_jobs error: Invalid job id specified\n", Code::kNotFound, nullptr},
      {"squeue: error: something\nsqueue: error: Invalid partition name specified\n", Code::kInvalidArgument,
       "squeue: Invalid partition name specified"},
      {"squeue: error: \033[2J\n", Code::kInvalidArgument, "squeue: \\x1B[2J"},
      {"", Code::kInvalidArgument, "squeue: it has failed and does not say why"},
  };
  for (const auto& one : cases) {
    const Status status = refusal(SlurmTool::kSqueue, one.words);
    EXPECT_EQ(status.code(), one.code) << one.words;
    if (one.message != nullptr) {
      EXPECT_EQ(status.message(), one.message);
    }
  }
}

TEST(SlurmCommands, WithoutAccountingSayThatThereIsNone) {
  const FakeSlurm slurm;
  std::filesystem::remove(slurm.folder() / "sacct");
  EXPECT_EQ(slurm.commands().run(SlurmTool::kSacct, {}).status().code(), Code::kUnimplemented);
}

}  // namespace
}  // namespace trainwarden::slurm
