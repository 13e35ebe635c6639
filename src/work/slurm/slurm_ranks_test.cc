#include "work/slurm/slurm_ranks.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainwarden::slurm {
namespace {

// Of the third of four tasks on two nodes, as srun 22.05.8 has set them.
const std::map<std::string, std::string> kTask = {
    {"SLURM_PROCID", "2"},         {"SLURM_LOCALID", "0"},        {"SLURM_NODEID", "1"},
    {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_NUM_NODES", "2"}, {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.1"}};

TEST(SlurmRanks, ATaskIsARank) {
  const auto place = place_of_task(kTask);
  ASSERT_TRUE(place.ok()) << place.status().to_string();
  EXPECT_EQ(place->rank, 2);
  EXPECT_EQ(place->local_rank, 0);
  EXPECT_EQ(place->world_size, 4);
  EXPECT_EQ(place->local_world_size, 2);
  EXPECT_EQ(place->node, 1);
  EXPECT_EQ(place->nodes, 2);
  EXPECT_EQ(place->master_address, "10.0.0.1");
  EXPECT_EQ(place->master_port, "");  // all tasks have it from run_ranks()
  auto by_name = kTask;
  by_name["MASTER_ADDR"] = "first-node";
  EXPECT_EQ(place_of_task(by_name)->master_address, "first-node");
}

TEST(SlurmRanks, AreStartedBySrunAlone) {
  EXPECT_EQ(place_of_task({}).status().code(), Code::kFailedPrecondition);
  for (const auto& [name, value] : kTask) {
    auto without = kTask;
    without.erase(name);
    EXPECT_EQ(place_of_task(without).status().code(), Code::kFailedPrecondition) << name;
  }
  auto damaged = kTask;
  damaged["SLURM_PROCID"] = "-1";
  EXPECT_EQ(place_of_task(damaged).status().code(), Code::kDataLoss);
  damaged["SLURM_PROCID"] = "2";
  damaged["SLURM_STEP_NUM_NODES"] = "0";
  EXPECT_FALSE(place_of_task(damaged).ok());
}

TEST(SlurmRanks, AreStartedWithWhatTheJobAskedFor) {
  jobs::Resources resources;
  resources.nodes = 2;
  resources.tasks_per_node = 4;
  resources.cpus = 8;
  EXPECT_EQ(
      fmt::format("{}", fmt::join(ranks_command("/bin/tw", resources, false, {"python3", "train.py", "--fast"}), " ")),
      "/bin/tw job slurm-ranks -- --nodes=2 --ntasks-per-node=4 --cpus-per-task=8 --export=ALL "
      "--kill-on-bad-exit=1 /bin/tw job slurm-task -- python3 train.py --fast");
}

TEST(SlurmRanks, AreBoundBySlurmOrByThemselves) {
  jobs::Resources resources;
  resources.tasks_per_node = 2;
  resources.binding = jobs::Binding::kCores;
  const auto words = [&](bool slurm_binds) {
    return fmt::format("{}", fmt::join(ranks_command("/bin/tw", resources, slurm_binds, {"train"}), " "));
  };
  const std::string start = "/bin/tw job slurm-ranks -- --nodes=1 --ntasks-per-node=2 --cpus-per-task=1 --cpu-bind=";
  const std::string middle = " --export=ALL --kill-on-bad-exit=1 /bin/tw job slurm-task ";
  EXPECT_EQ(words(true), start + "cores --distribution=block:block" + middle + "--bound -- train");
  EXPECT_EQ(words(false), start + "none" + middle + "--bind=cores -- train");
  resources.binding = jobs::Binding::kSockets;
  EXPECT_EQ(words(false), start + "none" + middle + "--bind=sockets -- train");
}

TEST(SlurmRanks, HaveTheGpusOfTheirStep) {
  EXPECT_EQ(*gpus_of_step({}), std::vector<int>());
  EXPECT_EQ(*gpus_of_step({{"SLURM_JOB_GPUS", "0,3"}}), (std::vector<int>{0, 3}));
  EXPECT_EQ(*gpus_of_step({{"SLURM_JOB_GPUS", "0,3"}, {"SLURM_STEP_GPUS", "1"}}), std::vector<int>{1})
      << "those of the job are of its first node";
  for (const char* wrong : {"0,GPU-1234", "-1", "0-3"}) {
    EXPECT_EQ(gpus_of_step({{"SLURM_STEP_GPUS", wrong}}).status().code(), Code::kDataLoss) << wrong;
  }
}

}  // namespace
}  // namespace trainwarden::slurm
