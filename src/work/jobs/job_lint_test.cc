#include "work/jobs/job_lint.h"

#include <gtest/gtest.h>

#include <map>

namespace trainwarden::jobs {
namespace {

using Lines = std::vector<std::string>;

// A machine and a disk that are not there.
class JobLint : public testing::Test {
 protected:
  JobLint() {
    surroundings_.folder = "/jobs";
    surroundings_.machine = {.cpus = 8, .memory_bytes = std::uint64_t{16} << 30, .free_disk_bytes = 1 << 30, .gpus = 1};
    surroundings_.look = [this](const std::filesystem::path& path) {
      const auto found = files_.find(path.string());
      return found == files_.end() ? FileKind::kNone : found->second;
    };
    surroundings_.is_program = [](const std::string& name) { return name == "python3" || name == "/jobs/train"; };
  }

  Lines mistakes_in(std::string_view text) {
    const Result<document::DocumentValue> top = document::parse(text, "job");
    EXPECT_TRUE(top.ok()) << top.status().to_string();
    document::Mistakes mistakes;
    const JobSpec spec = read_job_spec(top.value_or({}), mistakes);
    warnings_ = lint(spec, surroundings_, mistakes);
    Lines lines;
    for (const document::Mistake& one : mistakes.listed()) lines.push_back(one.place + ": " + one.what);
    return lines;
  }

  Lines warning_codes() const {
    Lines codes;
    for (const Warning& warning : warnings_) codes.push_back(warning.code);
    return codes;
  }

  std::map<std::string, FileKind> files_ = {{"/jobs/src", FileKind::kFolder},
                                            {"/jobs/src/train.py", FileKind::kFile},
                                            {"/jobs/src/package", FileKind::kFolder},
                                            {"/jobs/data", FileKind::kFolder},
                                            {"/data/all.csv", FileKind::kFile}};
  Surroundings surroundings_;
  std::vector<Warning> warnings_;
};

TEST_F(JobLint, AJobWhoseFilesAreThere) {
  EXPECT_EQ(
      mistakes_in("entry_point = 'train.py'\nsource_dir = 'src'\n[inputs]\na = 'data'\nb = 'file:///data/all.csv'\n"
                  "[resources]\ncpus = 4\ntasks_per_node = 2\nmemory = '16 GiB'\nvolume = '1 GiB'\ngpus = 1\n"),
      Lines{});
  EXPECT_EQ(warning_codes(), Lines{});
  EXPECT_EQ(mistakes_in("program = ['python3', 'x.py']"), Lines{});
  EXPECT_EQ(mistakes_in("program = './train'"), Lines{});
}

TEST_F(JobLint, FilesThatAreNotThere) {
  EXPECT_EQ(mistakes_in("entry_point = 'tran.py'\nsource_dir = 'src'\ndependencies = ['lib']\nactions = 'data'\n"
                        "hook = 'h.toml'\n[inputs]\na = 'none'\n"),
            (Lines{"job, line 1: entry_point: expected a file, found nothing there: /jobs/src/tran.py",
                   "job, line 3: dependencies: expected a folder, found nothing there: /jobs/lib",
                   "job, line 4: actions: expected a file, found a folder: /jobs/data",
                   "job, line 5: hook: expected a file, found nothing there: /jobs/h.toml",
                   "job, line 7: inputs: a: nothing is there: /jobs/none"}));
  EXPECT_EQ(mistakes_in("program = 'trainer'"),
            Lines{"job, line 1: program: \"trainer\" is not found, as a path or in PATH"});
}

TEST_F(JobLint, AnEntryPointLiesWithinTheSources) {
  for (const char* entry : {"../train.py", "a/../../train.py", "/etc/passwd"}) {
    EXPECT_EQ(
        mistakes_in("source_dir = 'src'\nentry_point = '" + std::string(entry) + "'"),
        Lines{"job, line 2: entry_point: expected a path within source_dir, found \"" + std::string(entry) + "\""});
  }
  EXPECT_EQ(mistakes_in("source_dir = 'src'\nentry_point = 'package'"),
            Lines{"job, line 2: entry_point: expected a file, found nothing there: /jobs/src/package/setup.py"});
}

TEST_F(JobLint, MoreThanThisMachineHas) {
  EXPECT_EQ(mistakes_in("program = 'python3'\n[resources]\ncpus = 5\ntasks_per_node = 2\ngpus = 2\nmemory = '17 GiB'\n"
                        "volume = '2 GiB'\nthreads_per_rank = 6\n"),
            (Lines{"job, line 2: cpus: the tasks of a node want 10 processors, this machine has 8",
                   "job, line 2: gpus: expected 1 at most, as this machine has, found 2",
                   "job, line 2: memory: expected 16.0 GiB at most, as this machine has, found 17.0 GiB",
                   "job, line 2: volume: expected 1.0 GiB at most, as this machine has free, found 2.0 GiB",
                   "job, line 2: threads_per_rank: 6 threads on 5 processors"}));
}

TEST_F(JobLint, WhatMayNotBeMeantIsAWarning) {
  EXPECT_EQ(mistakes_in(R"x({"program": "python3", "instance_count": 2, "output_path": "s3://b/out",
    "inputs": {"a": {"source": "/data/all.csv", "distribution": "ShardedByS3Key"}},
    "metric_definitions": [{"Name": "a", "Regex": "loss: (\\S+)"}, {"Name": "b", "Regex": "val_loss: (\\S+)"}]})x"),
            Lines{});
  EXPECT_EQ(warning_codes(), (Lines{"BUCKET", "SHARDS", "METRIC_AMBIGUOUS"}));
}

// What a cluster has, it says when a job is submitted.
TEST_F(JobLint, MeasuresNoJobOfAClusterByThisMachine) {
  const std::string big =
      "program = './train'\n[resources]\ncpus = 64\nmemory = '1 TiB'\ngpus = 8\nthreads_per_rank = 65\n";
  EXPECT_EQ(mistakes_in(big).size(), 4U);
  EXPECT_EQ(mistakes_in("backend = 'slurm'\n" + big),
            Lines{"job, line 3: threads_per_rank: 65 threads on 64 processors"});
}

}  // namespace
}  // namespace trainwarden::jobs
