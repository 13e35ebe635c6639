// Folders of SageMaker's profiler as runs of ours: small ones that are made here, and those that smdebug's authors
// recorded.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>

#include <test_paths.h>

#include "data/foreign/smdebug_system_metrics.h"
#include "read/profile/operator_table.h"
#include "read/profile/step_phases.h"
#include "read/profile/system_usage.h"
#include "read/transfer/profiler_machines.h"
#include "read/transfer/transfer_testing.h"

namespace trainwarden::transfer {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNow = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kStartUs = 1594662605425850;

void put(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::string sample(const std::string& type, const std::string& name, const std::string& dimension, double value,
                   double seconds, const std::string& node = "algo-1") {
  return foreign::smdebug_sample_line({type, name, dimension, node, value, static_cast<std::int64_t>(seconds * 1e9)});
}

std::string event(int pid, const std::string& name, int from_us, int duration_us, const std::string& step = "") {
  const std::string args = step.empty() ? "" : R"(, "args": {"pid": 7, "step_num": ")" + step + "\"}";
  return ",\n{\"name\": \"" + name + "\", \"pid\": " + std::to_string(pid) +
         ", \"ph\": \"X\", \"ts\": " + std::to_string(from_us) + ", \"dur\": " + std::to_string(duration_us) + args +
         "}";
}

std::string phase_name(int pid, const std::string& name) {
  return ",\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": " + std::to_string(pid) +
         ", \"args\": {\"name\": \"" + name + "\"}}";
}

std::string head() {
  return "[\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 0, \"args\": "
         "{\"start_time_since_epoch_in_micros\": " +
         std::to_string(kStartUs) + "}}";
}

class ProfilerImportTest : public TransferTest {
 protected:
  std::unique_ptr<Trial> import(const fs::path& from) {
    auto imported = import_run(from, in("run"));
    EXPECT_TRUE(imported.ok()) << imported.status().to_string();
    if (!imported.ok()) return nullptr;
    report_ = *std::move(imported);
    auto trial = Trial::open(in("run"));
    EXPECT_TRUE(trial.ok()) << trial.status().to_string();
    return trial.ok() ? *std::move(trial) : nullptr;
  }

  // Lies beside the source tree, or where TRAINWARDEN_SHARED_DATA points.
  static fs::path recorded(const std::string& name) {
    const char* root = std::getenv("TRAINWARDEN_SHARED_DATA");
    const fs::path data = root != nullptr ? root : TW_SOURCE_DIR "/../shared/data";
    const fs::path folder = data / "telemetry/smdebug/tests/profiler/resources" / name;
    return fs::is_directory(folder) ? folder : fs::path();
  }

  ImportReport report_;
};

TEST_F(ProfilerImportTest, SamplesAreSharesOfTheMachineAndItsProcessors) {
  put(in("p/system/incremental/2020061000/1591748100.algo-1.json"),
      sample("cpu", "cpu0", "CPUUtilization", 20, 1591748101) +
          sample("cpu", "cpu1", "CPUUtilization", 60, 1591748101.004) + "{\"Type\":\"cpu\",\"Na\n" +
          sample("gpu", "gpu0", "GPUUtilization", 50, 1591748101.008) +
          sample("gpu", "gpu0", "GPUMemoryUtilization", 25, 1591748101.009) +
          sample("i/o", "cpu0", "I/OWaitPercentage", 3, 1591748101) +
          sample("memory", "MemoryUsedPercent", "", 11, 1591748101) +
          sample("network", "eth0", "Algorithm", 1e6, 1591748101) +
          sample("cpu", "cpu0", "CPUUtilization", 40, 1591748102));
  const auto trial = import(in("p"));
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(report_.samples, 8u);
  ASSERT_EQ(report_.losses.size(), 1u);
  EXPECT_EQ(report_.losses[0].cause, "damaged lines of system metrics");
  EXPECT_EQ(report_.losses[0].count, 1u);
  const auto usage = profile::system_usage(*trial);
  ASSERT_TRUE(usage.ok());
  std::map<std::string, std::vector<double>> found;
  for (const profile::UsageSeries& series : *usage) {
    EXPECT_EQ(series.worker, "machine-0");
    auto& values = found[std::string(series.kind->name) + " " + series.instance + " " + series.part];
    for (const Sample& one : series.samples) values.push_back(one.value);
  }
  const std::map<std::string, std::vector<double>> expected = {
      {"cpu algo-1 ", {40, 40}}, {"core algo-1 0", {20, 40}}, {"core algo-1 1", {60}},
      {"iowait algo-1 ", {3}},   {"memory algo-1 ", {11}},    {"network algo-1 eth0-algorithm", {1e6}},
      {"gpu gpu0 ", {50}},       {"gpu_memory gpu0 ", {25}},
  };
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, values] : expected) {
    ASSERT_TRUE(found.contains(name)) << name;
    ASSERT_EQ(found[name].size(), values.size()) << name;
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(found[name][i], values[i], 1e-9) << name;
  }
}

TEST_F(ProfilerImportTest, NodesAreMachinesInTheirOrder) {
  for (const char* node : {"algo-10", "algo-2"}) {
    put(in("p/system/incremental/1591748100." + std::string(node) + ".json"),
        sample("cpu", "cpu0", "CPUUtilization", 1, 1591748101, node));
  }
  put(in("p/system/training_job_end.ts"), "");
  const auto trial = import(in("p"));
  ASSERT_NE(trial, nullptr);
  EXPECT_TRUE(report_.source_ended);
  EXPECT_EQ(trial->labels().at("machine.machine-0"), "algo-2");
  EXPECT_EQ(trial->labels().at("machine.machine-1"), "algo-10");
}

TEST_F(ProfilerImportTest, StepsHaveThePhasesThatLieInThem) {
  std::string python = head() + phase_name(1, "Step:ModeKeys.TRAIN") + phase_name(2, "Forward") +
                       phase_name(3, "Backward(post-forward)") + phase_name(4, "DataLoaderIter") +
                       phase_name(5, "cpu_functions") + phase_name(6, "Forward-SubModuleInternal");
  for (int step = 0; step < 3; ++step) {
    const int from = step * 1000;  // waits 100, steps of 600, 300 of nothing known
    python += event(4, "DataLoaderIter::GetNext", from, 100) + event(2, "Net", from + 100, 200, std::to_string(step)) +
              event(6, "fc", from + 110, 100) + event(5, "aten::mm", from + 120, 50) +
              event(3, "Net", from + 300, 400, std::to_string(step)) +
              event(1, "Step:ModeKeys.TRAIN", from + 100, 600, std::to_string(step));
  }
  put(in("p/framework/pevents/2020071317/1594662614815222_7-host_pythontimeline.json"), python);  // no end
  const auto trial = import(in("p"));
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(report_.steps, 3u);
  EXPECT_EQ(report_.workers.at("7-host"), "rank-00000");
  EXPECT_EQ(trial->steps(Mode::kTrain), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(trial->created_unix_ns(), kStartUs * 1000);
  EXPECT_NEAR(*trial->scalar("phase/start", 0), 600e-6, 1e-12);
  const std::map<std::string, double> expected = {{"phase/step", 1000e-6},
                                                  {"phase/forward", 200e-6},
                                                  {"phase/backward", 400e-6},
                                                  {"phase/data_wait", 100e-6},
                                                  {"phase/rest", 300e-6}};
  for (const auto& [phase, seconds] : expected) EXPECT_NEAR(*trial->scalar(phase, 2), seconds, 1e-12) << phase;
  EXPECT_EQ(trial->operator_steps("rank-00000"), (std::vector<std::int64_t>{0, 1, 2}));
  const auto calls = trial->operators("rank-00000", 1);
  ASSERT_TRUE(calls.ok());
  ASSERT_EQ(calls->calls.size(), 5u) << "all but the step itself";
  const auto product = std::find(calls->names.begin(), calls->names.end(), "aten::mm");
  ASSERT_NE(product, calls->names.end());
  for (const OperatorCall& call : calls->calls) {
    if (calls->names[call.name] != "aten::mm") continue;
    EXPECT_EQ(call.kind, OperatorKind::kOperator);
    EXPECT_EQ(call.start_unix_ns, (kStartUs + 1120) * 1000);
    EXPECT_EQ(call.duration_ns, 50'000);
  }
  const auto phases = profile::step_phases(*trial);
  ASSERT_TRUE(phases.ok());
  ASSERT_EQ(phases->size(), 1u);
  EXPECT_EQ((*phases)[0].divided_steps, 2u);
  EXPECT_EQ((*phases)[0].phases[0].phase, "backward");
  EXPECT_NEAR((*phases)[0].phases[0].share, 0.4, 1e-9);
}

TEST_F(ProfilerImportTest, DamageCostsWhatItHitsAndNothingElse) {
  put(in("p/framework/pevents/2020071317/1594662614815222_7-host_pythontimeline.json"),
      head() + phase_name(1, "Step:ModeKeys.TRAIN") + ",\n{\"name\": \"Step\n" +
          event(1, "Step:ModeKeys.TRAIN", 0, 10, "4") + ",\n{\"ph\": \"E\", \"pid\": 1, \"ts\": 4}");
  put(in("p/framework/tensorflow/detailed_profiling/2020080513/000000000/plugins/profile/2020_08_05_13_37_44/"
         "7-host.trace.json.gz"),
      "no gzip");
  const auto trial = import(in("p"));
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->steps(Mode::kTrain), std::vector<std::int64_t>{4});
  EXPECT_EQ(report_.losses.size(), 3u);
}

TEST_F(ProfilerImportTest, AFolderWithNothingInItIsNoRun) {
  fs::create_directories(in("p/framework/pevents"));
  const auto report = import_run(in("p"), in("run"));
  EXPECT_EQ(report.status().code(), Code::kNotFound);
  EXPECT_FALSE(fs::exists(in("run")));
}

TEST_F(ProfilerImportTest, RecordedSamplesOfThirtyTwoProcessors) {
  const fs::path folder = recorded("test_traces");
  if (folder.empty()) GTEST_SKIP() << "no recorded folders of a profiler; TRAINWARDEN_SHARED_DATA names their folder";
  const auto trial = import(folder);
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(report_.samples, 64u);
  const auto usage = profile::system_usage(*trial, {.kinds = {"core", "cpu"}});
  ASSERT_TRUE(usage.ok());
  ASSERT_EQ(usage->size(), 33u);
  const auto eleventh = std::find_if(usage->begin(), usage->end(), [](const auto& one) { return one.part == "11"; });
  ASSERT_NE(eleventh, usage->end());
  EXPECT_NEAR(eleventh->samples.at(0).value, 51.1, 1e-9);
  EXPECT_NEAR(static_cast<double>(eleventh->samples.at(0).unix_ns), 1591748109.2321954e9, 1e3);
  EXPECT_EQ(report_.calls, 4u) << "an event in each of four timelines, none of them a step";
}

TEST_F(ProfilerImportTest, RecordedStepsBesideAModelsTimeline) {
  const fs::path folder = recorded("merge_traces");
  if (folder.empty()) GTEST_SKIP() << "no recorded folders of a profiler; TRAINWARDEN_SHARED_DATA names their folder";
  const auto trial = import(folder);
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(report_.steps, 40u);
  EXPECT_EQ(report_.calls, 662u) << "1 and 661 of the model's timelines";
  EXPECT_TRUE(report_.losses.empty());
  EXPECT_EQ(report_.workers.at("905-b88ab1bb8259"), "rank-00000");
  const std::vector<std::int64_t> train = trial->steps(Mode::kTrain);
  ASSERT_GE(train.size(), 3u);
  EXPECT_NEAR(*trial->scalar("phase/start", 0, Mode::kTrain), 9.020725, 1e-9);
  // From the end of step 1 to that of step 2: 12081597 + 83633 - 11993413 - 87137 microseconds.
  EXPECT_NEAR(*trial->scalar("phase/step", 2, Mode::kTrain), 0.08468, 1e-9);
}

TEST_F(ProfilerImportTest, RecordedTimelinesOfHorovod) {
  const fs::path folder = recorded("horovod_timeline_traces");
  if (folder.empty()) GTEST_SKIP() << "no recorded folders of a profiler; TRAINWARDEN_SHARED_DATA names their folder";
  const auto trial = import(folder);
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(report_.workers.begin()->first, "88359-8c859046be41.ant.amazon.com");
  EXPECT_EQ(report_.calls, 21u) << "19 that are whole, 2 instants";
  ASSERT_EQ(report_.losses.size(), 1u);
  EXPECT_EQ(report_.losses[0].count, 6u) << "4 beginnings and 2 ends, none of them of the same track";
}

// As Horovod writes it: operations begin and end, and the array has no end before the training has.
TEST_F(ProfilerImportTest, ATimelineThatHorovodStillWrites) {
  std::string text = head() + phase_name(1, "gradient/dense");
  const auto half = [&text](const char* phase, const std::string& name, int at_us) {
    text += ",\n{\"ph\": \"" + std::string(phase) + "\", " + (name.empty() ? "" : "\"name\": \"" + name + "\", ") +
            "\"ts\": " + std::to_string(at_us) + ", \"pid\": 1}";
  };
  half("B", "NEGOTIATE_ALLREDUCE", 1000);
  put(in("growing.json"), text);
  const auto nothing = import_run(in("growing.json"), in("run"));
  EXPECT_EQ(nothing.status().code(), Code::kNotFound);
  EXPECT_EQ(nothing.status().message(),
            "growing.json: no operation of Horovod's has ended in it; import it again when one has");
  EXPECT_FALSE(fs::exists(in("run")));
  half("E", "", 1400);
  half("B", "ALLREDUCE", 1500);
  put(in("growing.json"), text);
  auto trial = import(in("growing.json"));
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(report_.calls, 1u);
  EXPECT_FALSE(report_.source_ended);
  EXPECT_EQ(trial->labels().at("recorder"), "Horovod");
  half("E", "", 2500);
  put(in("growing.json"), text + "\n]\n");
  std::filesystem::remove_all(in("run"));
  trial = import(in("growing.json"));
  ASSERT_NE(trial, nullptr);
  EXPECT_TRUE(report_.source_ended);
  const auto steps = trial->operator_steps("rank-00000");
  ASSERT_EQ(steps.size(), 1u);
  const auto calls = trial->operators("rank-00000", steps[0]);
  ASSERT_TRUE(calls.ok());
  ASSERT_EQ(calls->calls.size(), 2u);
  EXPECT_EQ(calls->names[calls->calls[1].name], "ALLREDUCE");
  EXPECT_EQ(calls->calls[1].start_unix_ns, (kStartUs + 1500) * 1000);
  EXPECT_EQ(calls->calls[1].duration_ns, 1'000'000);
}

TEST_F(ProfilerImportTest, RecordedTracesOfTensorFlow) {
  const fs::path folder = recorded("tfprofiler_timeline_traces");
  if (folder.empty()) GTEST_SKIP() << "no recorded folders of a profiler; TRAINWARDEN_SHARED_DATA names their folder";
  const auto trial = import(folder);
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(report_.calls, 798u);
  const auto steps = trial->operator_steps("rank-00000");
  ASSERT_EQ(steps.size(), 1u);
  const auto calls = trial->operators("rank-00000", steps[0]);
  ASSERT_TRUE(calls.ok());
  const auto first = std::min_element(calls->calls.begin(), calls->calls.end(),
                                      [](const auto& a, const auto& b) { return a.start_unix_ns < b.start_unix_ns; });
  // 2020-08-05T13:37:44Z, the name of its folder, for its metadata are missing.
  EXPECT_EQ(first->start_unix_ns / 1'000'000'000, 1596634664);
  EXPECT_EQ(report_.losses.size(), 2u) << "the time is known to a second, and three profiles of cProfile are left out";
}

TEST_F(ProfilerImportTest, UnknownSamplesKeepTheirNames) {
  const ImportedMetric metric = imported_metric({"disk", "Sda", "Temperature", "algo-1", 3, 0});
  EXPECT_EQ(metric.metric.name, "sagemaker.disk.sda.temperature");
  EXPECT_EQ(metric.metric.kind, MetricKind::kGauge);
  EXPECT_EQ(metric.unit, 1);
}

}  // namespace
}  // namespace trainwarden::transfer
