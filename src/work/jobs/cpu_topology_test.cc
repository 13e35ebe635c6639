#include "work/jobs/cpu_topology.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/folder_testing.h"

namespace trainwarden::jobs {
namespace {

using Groups = std::vector<std::vector<int>>;

// Two sockets of two cores with two threads each, numbered as Linux does: 0 and 4 share a core.
CpuTopology two_sockets() {
  CpuTopology topology;
  for (int cpu = 0; cpu < 8; ++cpu) topology[cpu] = {cpu % 4 / 2, cpu % 2};
  return topology;
}

TEST(CpuTopology, IsReadWhereLinuxShowsIt) {
  const TestFolder root;
  const auto write = [&](const std::string& file, const char* text) {
    std::filesystem::create_directories((root.path() / file).parent_path());
    std::ofstream(root.path() / file) << text;
  };
  write("cpu3/topology/physical_package_id", "1\n");
  write("cpu3/topology/core_id", "7\n");
  const CpuTopology topology = read_topology({3, 5}, root.path());
  EXPECT_EQ(topology.at(3), (CpuPlace{1, 7}));
  EXPECT_EQ(topology.at(5).socket, 0) << "of which nothing is said";
  EXPECT_NE(topology.at(5), read_topology({6}, root.path()).at(6)) << "each is a core of its own";
}

TEST(CpusOfRanks, BoundToCoresEachHasWholeOnes) {
  EXPECT_EQ(*cpus_of_ranks(two_sockets(), Binding::kCores, 4), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(*cpus_of_ranks(two_sockets(), Binding::kCores, 2), (Groups{{0, 1, 4, 5}, {2, 3, 6, 7}}));
  EXPECT_EQ(*cpus_of_ranks(two_sockets(), Binding::kCores, 3), (Groups{{0, 4}, {1, 5}, {2, 3, 6, 7}}));
  EXPECT_EQ(cpus_of_ranks(two_sockets(), Binding::kCores, 5).status().code(), Code::kFailedPrecondition);
}

TEST(CpusOfRanks, BoundToSocketsTheyShareThemOrHaveSeveral) {
  const std::vector<int> first = {0, 1, 4, 5};
  const std::vector<int> second = {2, 3, 6, 7};
  EXPECT_EQ(*cpus_of_ranks(two_sockets(), Binding::kSockets, 2), (Groups{first, second}));
  EXPECT_EQ(*cpus_of_ranks(two_sockets(), Binding::kSockets, 4), (Groups{first, first, second, second}));
  EXPECT_EQ(*cpus_of_ranks(two_sockets(), Binding::kSockets, 1), (Groups{{0, 1, 2, 3, 4, 5, 6, 7}}));
}

TEST(CpusOfRanks, NotBoundAllHaveAll) {
  EXPECT_EQ(*cpus_of_ranks({{2, {0, 0}}, {3, {0, 1}}}, Binding::kNone, 2), (Groups{{2, 3}, {2, 3}}));
  EXPECT_FALSE(cpus_of_ranks({}, Binding::kCores, 1).ok());
}

}  // namespace
}  // namespace trainwarden::jobs
