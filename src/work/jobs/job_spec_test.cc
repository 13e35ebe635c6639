#include "work/jobs/job_spec.h"

#include <gtest/gtest.h>

namespace trainwarden::jobs {
namespace {

using Lines = std::vector<std::string>;

struct Read {
  JobSpec spec;
  Lines mistakes;
};

Read read(std::string_view text) {
  Read result;
  const Result<document::DocumentValue> top = document::parse(text, "job");
  EXPECT_TRUE(top.ok()) << top.status().to_string();
  document::Mistakes mistakes;
  result.spec = read_job_spec(top.value_or({}), mistakes);
  for (const document::Mistake& one : mistakes.listed()) result.mistakes.push_back(one.place + ": " + one.what);
  return result;
}

TEST(JobSpec, AJobWithAllItsParts) {
  const Read job = read(R"x(
name = "bert-squad-7"
entry_point = "train.py"
source_dir = "src"
dependencies = ["lib", "data_tools"]
arguments = ["--fast"]
image = "trainwarden/pytorch"
output_dir = "out"
mirror = "s3://bucket/runs"
tensorboard = "boards"
max_run = "2 h"
max_wait = "1 d"
max_pending = 3600
retries = 3
priority = -5
hook = "hook.toml"
rules = ["default", "value(loss) > 3"]
actions = "actions.toml"
strict_metrics = true
backend = "slurm"

[slurm]
partition = "gpu"
account = "vision"
qos = "long"
constraint = "a100&nvlink"

[hyperparameters]
epochs = 3
lr = 0.1

[environment]
NCCL_DEBUG = "INFO"
THREADS = 2

[resources]
nodes = 2
tasks_per_node = 4
cpus = 8
gpus = 4
memory = "64 GiB"
volume = "100 GiB"
threads_per_rank = 2
bind = "sockets"
network_interface = "eth0"
profile = "large"
preemptible = true

[inputs]
train = {source = "s3://bucket/train", distribution = "ShardedByS3Key", mode = "FastFile", content_type = "text/csv"}
val = "data/val"

[checkpoints]
path = "ckpt"
local = "/opt/ml/checkpoints"

[[metric]]
name = "loss"
regex = '\bloss: (\S+)'

[tags]
team = "vision"

[experiment]
experiment = "bert"
trial = "squad"
run = "seventh"
)x");
  EXPECT_EQ(job.mistakes, Lines{});
  const JobSpec& spec = job.spec;
  EXPECT_EQ(spec.name, "bert-squad-7");
  EXPECT_EQ(spec.entry_point, "train.py");
  EXPECT_EQ(spec.source_dir, "src");
  EXPECT_EQ(spec.dependencies, (Lines{"lib", "data_tools"}));
  EXPECT_EQ(spec.arguments, Lines{"--fast"});
  EXPECT_EQ(spec.image, "trainwarden/pytorch");
  EXPECT_EQ(spec.output_dir, "out");
  EXPECT_EQ(spec.mirror, "s3://bucket/runs");
  EXPECT_EQ(spec.tensorboard, "boards");
  EXPECT_EQ(spec.limits.max_run_seconds, 7200);
  EXPECT_EQ(spec.limits.max_wait_seconds, 86400);
  EXPECT_EQ(spec.limits.max_pending_seconds, 3600);
  EXPECT_EQ(spec.limits.retries, 3);
  EXPECT_EQ(spec.priority, -5);
  EXPECT_EQ(spec.backend, Backend::kSlurm);
  EXPECT_EQ(spec.slurm, (SlurmChoice{"gpu", "vision", "long", "a100&nvlink"}));
  EXPECT_EQ(spec.hook_config, "hook.toml");
  EXPECT_EQ(spec.rules, (Lines{"default", "value(loss) > 3"}));
  EXPECT_EQ(spec.actions, "actions.toml");
  EXPECT_EQ(spec.hyperparameters.at("epochs").integer, 3);
  EXPECT_EQ(spec.environment.at("THREADS"), "2");
  EXPECT_EQ(spec.resources.nodes, 2);
  EXPECT_EQ(spec.resources.tasks_per_node, 4);
  EXPECT_EQ(spec.resources.cpus, 8);
  EXPECT_EQ(spec.resources.gpus, 4);
  EXPECT_EQ(spec.resources.memory_bytes, std::uint64_t{64} << 30);
  EXPECT_EQ(spec.resources.volume_bytes, std::uint64_t{100} << 30);
  EXPECT_EQ(spec.resources.threads_per_rank, 2);
  EXPECT_EQ(spec.resources.binding, Binding::kSockets);
  EXPECT_EQ(spec.resources.network_interface, "eth0");
  EXPECT_EQ(spec.resources.profile, "large");
  EXPECT_TRUE(spec.resources.preemptible);
  ASSERT_EQ(spec.inputs.size(), 2u);
  EXPECT_EQ(spec.inputs[0].name, "train");
  EXPECT_EQ(spec.inputs[0].distribution, Distribution::kShardedByKey);
  EXPECT_EQ(spec.inputs[0].mode, InputMode::kFastFile);
  EXPECT_EQ(spec.inputs[0].content_type, "text/csv");
  EXPECT_EQ(spec.inputs[1].source, "data/val");
  EXPECT_EQ(spec.checkpoints.path, "ckpt");
  EXPECT_EQ(spec.checkpoints.local, "/opt/ml/checkpoints");
  EXPECT_TRUE(spec.metrics.strict);
  ASSERT_EQ(spec.metrics.definitions.size(), 1u);
  EXPECT_EQ(spec.tags.at("team"), "vision");
  EXPECT_EQ(spec.experiment.experiment, "bert");
  EXPECT_EQ(spec.experiment.trial, "squad");
  EXPECT_EQ(spec.experiment.run, "seventh");
}

TEST(JobSpec, TheSmallestJob) {
  const Read job = read("program = './train'\n");
  EXPECT_EQ(job.mistakes, Lines{});
  EXPECT_EQ(job.spec.program, Lines{"./train"});
  EXPECT_EQ(job.spec.resources.nodes, 1);
  EXPECT_EQ(job.spec.limits.max_run_seconds, kDefaultMaxRunSeconds);
  EXPECT_TRUE(job.spec.hook);
}

// Both versions of the SDK, as the notebooks of 2020 and 2021 spell them.
TEST(JobSpec, TheSpellingsOfSageMakersEstimators) {
  const Read v1 = read(R"x({"entry_point": "train.py", "base_job_name": "mxnet-realtime", "train_instance_count": 1,
                            "train_instance_type": "ml.m4.xlarge", "train_volume_size": 400, "train_max_run": 3600,
                            "train_use_spot_instances": true, "train_max_wait": 7200, "debugger_hook_config": false})x");
  EXPECT_EQ(v1.mistakes, Lines{});
  EXPECT_EQ(v1.spec.base_name, "mxnet-realtime");
  EXPECT_EQ(v1.spec.resources.profile, "ml.m4.xlarge");
  EXPECT_EQ(v1.spec.resources.volume_bytes, std::uint64_t{400} << 30);
  EXPECT_EQ(v1.spec.limits.max_run_seconds, 3600);
  EXPECT_EQ(v1.spec.limits.max_wait_seconds, 7200);
  EXPECT_TRUE(v1.spec.resources.preemptible);
  EXPECT_FALSE(v1.spec.hook);
  const Read v2 = read(R"x({"entry_point": "train.py", "instance_count": 2, "instance_type": "ml.p3.2xlarge",
                            "output_path": "out", "checkpoint_s3_uri": "s3://b/c", "checkpoint_local_path": "/ckpt",
                            "inputs": {"train": {"s3_data": "s3://b/train", "input_mode": "File"}},
                            "metric_definitions": [{"Name": "l", "Regex": "l=(.)"}],
                            "tags": [{"Key": "team", "Value": "vision"}],
                            "experiment_config": {"ExperimentName": "e", "TrialName": "t"}})x");
  EXPECT_EQ(v2.mistakes, Lines{});
  EXPECT_EQ(v2.spec.resources.nodes, 2);
  EXPECT_EQ(v2.spec.output_dir, "out");
  EXPECT_EQ(v2.spec.checkpoints.path, "s3://b/c");
  EXPECT_EQ(v2.spec.checkpoints.local, "/ckpt");
  EXPECT_EQ(v2.spec.inputs.at(0).source, "s3://b/train");
  EXPECT_EQ(v2.spec.tags.at("team"), "vision");
  EXPECT_EQ(v2.spec.experiment.trial, "t");
}

TEST(JobSpec, AllMistakesAreToldAtOnceWithTheirPlaces) {
  const Read job = read(R"x(
name = "a--b"
entry_point = "train.py"
program = ["./train"]
max_run = "30 d"
hooks = true
[resources]
cpus = 0
memory = "much"
bind = "nodes"
[inputs]
train = {source = "x", mode = "Pipe"}
"bad name" = "y"
val = 7
[environment]
SM_HOSTS = "a"
"1X" = "b"
)x");
  EXPECT_EQ(
      job.mistakes,
      (Lines{
          "job, line 2: name: expected letters and digits with single hyphens between them, 63 at most, found "
          "\"a--b\"",
          "job, line 4: expected either entry_point = \"train.py\" or program = [\"./train\", \"--fast\"], found both",
          "job, line 5: max_run: expected 1 s to 2419200 s, found 2592000 s",
          "job, line 6: unknown key \"hooks\"; did you mean \"hook\"?",
          "job, line 8: cpus: expected 1 to 4096, found 0",
          "job, line 9: memory: expected a size, as in \"16 GiB\", or a number of bytes, found \"much\"",
          "job, line 10: bind: expected one of none, sockets, cores, found \"nodes\"",
          "job, line 12: mode: expected one of File, FastFile, found \"Pipe\"",
          "job, line 13: inputs: expected names of letters, digits, \".\", \"-\" and \"_\", 64 at most, found "
          "\"bad name\"",
          "job, line 14: val: expected a path or a table, found an integer",
          "job, line 16: environment: SM_HOSTS: Trainwarden sets variables that begin so",
          "job, line 17: environment: expected names of letters, digits and \"_\", found \"1X\""}));
}

TEST(JobSpec, LimitsAreTold) {
  std::string many = "program = 'a'\n[hyperparameters]\n";
  for (int i = 0; i < 30'000; ++i) many += "h" + std::to_string(i) + " = 1\n";
  EXPECT_EQ(read(many).mistakes, Lines{"job, line 2: hyperparameters: expected 100 at most, found 30000"});
  EXPECT_EQ(read("program = 'a'\n[hyperparameters]\nh = '" + std::string(kMaxValueBytes + 1, 'x') + "'\n").mistakes,
            Lines{"job, line 3: hyperparameters: h: expected 2500 bytes at most, found 2501"});
  EXPECT_EQ(read(R"({"program": "a", "hyperparameters": {"a\u001b[2J": 1, "n": null, "z": "x\u0000y"}})").mistakes,
            (Lines{"job, hyperparameters.a\\x1B[2J: hyperparameters: expected names without control characters, found "
                   "\"a\\x1B[2J\"",
                   "job, hyperparameters.z: hyperparameters: z: expected no NUL"}));
  EXPECT_EQ(
      read("program = 'a'\nmax_run = 100\nmax_wait = 50\n").mistakes,
      Lines{"job, line 3: max_wait: counts the time of running too: expected max_run (100 s) at least, found 50 s"});
  EXPECT_EQ(read("[{}]").mistakes, Lines{"job: expected a job, as in entry_point = \"train.py\", found a list"});
}

TEST(JobSpec, NamesOfJobs) {
  for (const char* name : {"a", "bert-7", "A1-b2-C3"}) EXPECT_TRUE(is_job_name(name)) << name;
  EXPECT_TRUE(is_job_name(std::string(63, 'a')));
  for (const char* name : {"", "-a", "a-", "a--b", "a_b", "a b", "../a", "a\n"})
    EXPECT_FALSE(is_job_name(name)) << name;
  EXPECT_FALSE(is_job_name(std::string(64, 'a')));
}

}  // namespace
}  // namespace trainwarden::jobs
