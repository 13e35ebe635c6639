#include "work/containers/container_engine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "work/containers/container_run.h"

namespace trainwarden::containers {
namespace {

using Words = std::vector<std::string>;

std::function<bool(const std::string&)> only(Words programs) {
  return [programs = std::move(programs)](const std::string& program) {
    return std::find(programs.begin(), programs.end(), program) != programs.end();
  };
}

ContainerPlan small_plan() {
  ContainerPlan plan;
  plan.image = "localhost/train:1";
  plan.name = "trainwarden-bert-1-0";
  plan.key = "bert-1";
  plan.mounts = {{"/jobs/bert/ml", "/opt/ml"}, {"/data", "/data", false}};
  plan.folder = "/jobs/bert/code";
  plan.variables = {"SM_HPS"};
  plan.program = {"python3", "train.py"};
  return plan;
}

// The words from `first` on, as many.
Words words_at(const Words& words, const std::string& first, std::size_t count) {
  const auto found = std::find(words.begin(), words.end(), first);
  if (words.end() - found < static_cast<std::ptrdiff_t>(count)) return {};
  return {found, found + static_cast<std::ptrdiff_t>(count)};
}

TEST(FindEngine, ChoosesByTheImageAndByWhatIsThere) {
  EXPECT_EQ(*find_engine("train:1", only({"podman", "apptainer"})), ContainerEngine::kPodman);
  EXPECT_EQ(*find_engine("train:1", only({"apptainer"})), ContainerEngine::kApptainer);
  EXPECT_EQ(*find_engine("train.sif", only({"podman", "apptainer"})), ContainerEngine::kApptainer);
  EXPECT_NE(find_engine("train:1", only({})).status().message().find("apt-get install podman"), std::string::npos);
  EXPECT_EQ(find_engine("train.sif", only({"podman"})).status().code(), Code::kNotFound);
}

TEST(ContainerWords, PodmanGetsMountsVariablesAndTheProgramAsItIs) {
  const Words words = container_words(ContainerEngine::kPodman, small_plan());
  EXPECT_EQ(words_at(words, "podman", 6),
            (Words{"podman", "run", "--name", "trainwarden-bert-1-0", "--label", "trainwarden.attempt=bert-1"}));
  EXPECT_EQ(words_at(words, "--volume", 4), (Words{"--volume", "/jobs/bert/ml:/opt/ml", "--volume", "/data:/data:ro"}));
  EXPECT_EQ(words_at(words, "--env", 2), (Words{"--env", "SM_HPS"}));
  EXPECT_EQ(words_at(words, "localhost/train:1", 3), (Words{"localhost/train:1", "python3", "train.py"}));
  EXPECT_EQ(words.back(), "train.py");
  for (const char* not_asked : {"--network=none", "--memory", "--device", "--userns=keep-id"}) {
    EXPECT_EQ(std::count(words.begin(), words.end(), not_asked), 0) << not_asked;
  }
}

TEST(ContainerWords, PodmanGetsGpusMemoryAndIsolationWhenAsked) {
  ContainerPlan plan = small_plan();
  plan.gpus = {2, 3};
  plan.memory_bytes = 1 << 20;
  plan.isolated_network = true;
  plan.keeps_user = true;
  const Words words = container_words(ContainerEngine::kPodman, plan);
  EXPECT_EQ(words_at(words, "--device", 6), (Words{"--device", "nvidia.com/gpu=2", "--device", "nvidia.com/gpu=3",
                                                   "--env", "CUDA_VISIBLE_DEVICES=0,1"}))
      << "inside they are counted from 0";
  EXPECT_EQ(words_at(words, "--memory", 2), (Words{"--memory", "1048576"}));
  EXPECT_EQ(std::count(words.begin(), words.end(), "--network=none"), 1);
  EXPECT_EQ(std::count(words.begin(), words.end(), "--userns=keep-id"), 1);
}

TEST(ContainerWords, RanksShareTheNetworkOfTheMachineUnlessTheyAreIsolated) {
  ContainerPlan plan = small_plan();
  plan.shares_network = true;
  const auto count = [&](const char* word) {
    const Words words = container_words(ContainerEngine::kPodman, plan);
    return std::count(words.begin(), words.end(), word);
  };
  EXPECT_EQ(count("--network=host"), 1);
  plan.isolated_network = true;
  EXPECT_EQ(count("--network=host"), 0);
  EXPECT_EQ(count("--network=none"), 1);
}

TEST(ContainerWords, PodmanStaysInTheControlGroupOfABatchSystem) {
  ContainerPlan plan = small_plan();
  plan.keeps_control_group = true;
  plan.memory_bytes = 1 << 20;
  const Words words = container_words(ContainerEngine::kPodman, plan);
  EXPECT_EQ(words_at(words, "--cgroups=disabled", 2), (Words{"--cgroups=disabled", "--rm"}));
  EXPECT_EQ(std::count(words.begin(), words.end(), "--memory"), 0) << "podman refuses a limit without a control group";
}

TEST(ContainerWords, ApptainerTakesAFileOrARegistrysImage) {
  ContainerPlan plan = small_plan();
  plan.gpus = {0};
  const Words words = container_words(ContainerEngine::kApptainer, plan);
  EXPECT_EQ(words, (Words{"apptainer", "exec", "--pwd", "/jobs/bert/code", "--bind", "/jobs/bert/ml:/opt/ml", "--bind",
                          "/data:/data:ro", "--nv", "docker://localhost/train:1", "python3", "train.py"}));
  plan.image = "train.sif";
  const Words of_file = container_words(ContainerEngine::kApptainer, plan);
  EXPECT_EQ(std::count(of_file.begin(), of_file.end(), "train.sif"), 1);
}

TEST(HandedOn, IsWhatBelongsToTheJob) {
  jobs::JobOrder order;
  order.environment = {{"MINE", "1"}};
  for (const char* name : {"MINE", "SM_HP_BATCH-SIZE", "TRAINWARDEN_RUN_DIR", "RANK", "GROUP_WORLD_SIZE",
                           "OMP_NUM_THREADS", "SLURM_PROCID", "SLURMD_NODENAME"}) {
    EXPECT_TRUE(is_handed_on(name, order)) << name;
  }
  for (const char* name : {"PATH", "LD_PRELOAD", "HOME", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH", "SLURM_JWT"}) {
    EXPECT_FALSE(is_handed_on(name, order)) << name;
  }
}

}  // namespace
}  // namespace trainwarden::containers
