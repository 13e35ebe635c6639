#include "work/ranks/rank_place.h"

#include <gtest/gtest.h>

namespace trainwarden::ranks {
namespace {

using Variables = std::map<std::string, std::string>;

TEST(RankPlace, IsToldAsTorchrunTellsIt) {
  const RankPlace third{.rank = 2,
                        .local_rank = 0,
                        .world_size = 4,
                        .local_world_size = 2,
                        .node = 1,
                        .nodes = 2,
                        .master_address = "10.0.0.1",
                        .master_port = "29500"};
  EXPECT_EQ(torchrun_variables(third), (Variables{{"RANK", "2"},
                                                  {"LOCAL_RANK", "0"},
                                                  {"WORLD_SIZE", "4"},
                                                  {"LOCAL_WORLD_SIZE", "2"},
                                                  {"GROUP_RANK", "1"},
                                                  {"GROUP_WORLD_SIZE", "2"},
                                                  {"NODE_RANK", "1"},
                                                  {"MASTER_ADDR", "10.0.0.1"},
                                                  {"MASTER_PORT", "29500"}}));
  EXPECT_FALSE(torchrun_variables({.master_address = "host", .master_port = ""}).contains("MASTER_PORT"));
}

TEST(RankPlace, AFreePortIsOne) {
  const auto port = free_port();
  ASSERT_TRUE(port.ok()) << port.status().to_string();
  EXPECT_GT(*port, 0);
}

std::string threads(const jobs::Resources& resources, Variables environment = {}) {
  add_rank_variables(resources, 8, environment);
  return environment.contains("OMP_NUM_THREADS") ? environment.at("OMP_NUM_THREADS") : "";
}

TEST(RankPlace, RanksShareTheProcessorsUnlessTheJobSaysOtherwise) {
  jobs::Resources resources;
  EXPECT_EQ(threads(resources), "");  // one process: as without us
  resources.threads_per_rank = 3;
  EXPECT_EQ(threads(resources), "3");
  EXPECT_EQ(threads(resources, {{"OMP_NUM_THREADS", "1"}}), "1");
  resources.threads_per_rank.reset();
  resources.tasks_per_node = 3;
  EXPECT_EQ(threads(resources), "2");
  resources.cpus = 4;
  EXPECT_EQ(threads(resources), "4");
  resources.cpus.reset();
  resources.tasks_per_node = 9;
  EXPECT_EQ(threads(resources), "1");
}

TEST(RankPlace, TheNetworkInterfaceIsForTheLibrariesThatTalkOverIt) {
  jobs::Resources resources;
  resources.network_interface = "eth1";
  Variables environment = {{"GLOO_SOCKET_IFNAME", "lo"}};
  add_rank_variables(resources, 1, environment);
  EXPECT_EQ(environment, (Variables{{"GLOO_SOCKET_IFNAME", "lo"}, {"NCCL_SOCKET_IFNAME", "eth1"}}));
}

}  // namespace
}  // namespace trainwarden::ranks
