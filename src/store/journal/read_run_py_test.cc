// No lock-in: docs/format/read_run.py, which knows nothing of our code, reads what we write.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <test_paths.h>

#include "store/journal/golden_run.h"
#include "store/journal/sample_batches.h"
#include "store/storage/local_storage.h"

namespace trainwarden::journal {
namespace {

namespace fs = std::filesystem;

// Prints a line for each record, values as the hexadecimal digits of their bytes.
constexpr const char* kLister = R"(
import struct, sys
sys.path.insert(0, sys.argv[1])
import read_run

def number(value): return struct.pack("<d", value).hex()

for worker, step, name, form, value in read_run.read_run(sys.argv[2]):
    if form == "value" and value.dtype == object:
        text = str(list(value.shape)) + " " + ",".join(text.hex() for text in value.flat)
    elif form == "value":
        text = str(list(value.shape)) + " " + value.tobytes().hex()
    elif form == "scalar":
        text = number(value)
    elif form not in ("statistics", "shape"):
        text = number(value)
    elif form == "shape":
        text = str([int(size) for size in value["shape"]])
    else:
        whole = [int(value[key]) for key in ("count", "nan_count", "zero_count", "hash")]
        rounded = [value[key] for key in "min max abs_min abs_max sum mean variance l1 l2".split()]
        text = " ".join([str(n) for n in whole] + [number(x) for x in rounded])
    print(worker, step, name, form, text)
for worker, step, name, kind, *rest in read_run.read_operators(sys.argv[2]):
    print(worker, step, name.encode("utf-8", "surrogateescape").hex(), kind, *rest)
for worker, metric, times, values in read_run.read_samples(sys.argv[2]):
    for time, value in zip(times, values): print(worker, metric["id"], metric["kind"], time, number(value))
)";

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "trainwarden-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

// What the command wrote to standard output; the test fails when the command does.
std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string output;
  char buffer[4096];
  for (std::size_t bytes; (bytes = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, bytes);
  const int status = ::pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\nneeds /usr/bin/python3 with NumPy";
  return output;
}

std::vector<std::string> lines_by_python(const fs::path& run) {
  const TemporaryFolder folder;
  const fs::path lister = folder.path() / "lister.py";
  std::ofstream(lister) << kLister;
  return sorted_lines(output_of(
      fmt::format("/usr/bin/python3 -B {} {} {}", lister.string(), TW_SOURCE_DIR "/docs/format", run.string())));
}

std::string hex(ByteSpan bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::string hex(double value) {
  return hex(std::as_bytes(std::span(&value, 1)));
}

std::string value_text(const KeptTensor& tensor) {
  std::string text = tensor.shape.to_string() + " ";
  if (tensor.dtype != DType::kString) return text + hex(tensor.data);
  for (std::size_t i = 0; i < tensor.strings.size(); ++i) {
    text += (i == 0 ? "" : ",") + hex(as_bytes(tensor.strings[i]));
  }
  return text;
}

std::string statistics_text(const StatisticsRow& row) {
  if (row.shape_only) return "shape " + row.shape.to_string();
  const Statistics& s = row.statistics;
  std::string text = fmt::format("statistics {} {} {} {}", s.count, s.nan_count, s.zero_count, s.hash);
  for (const double number :
       {s.min, s.max, s.abs_min, s.abs_max, s.sum.to_double(), s.mean(), s.variance(), s.l1(), s.l2()}) {
    text += " " + hex(number);
  }
  return text;
}

void add_lines(const StepBatch& batch, std::vector<std::string>& lines) {
  const auto add = [&](std::uint32_t id, const std::string& text) {
    lines.push_back(fmt::format("rank-00000 {} {} {}", batch.global_step, sample_name(id), text));
  };
  for (const KeptTensor& tensor : batch.tensors) add(tensor.id, "value " + value_text(tensor));
  for (const StatisticsRow& row : batch.statistics) add(row.id, statistics_text(row));
  for (const ScalarRow& row : batch.scalars) add(row.id, "scalar " + hex(row.value));
  for (const ReductionRow& row : batch.reductions) {
    add(row.id, fmt::format("{} {}", describe(row.reduction, row.abs), hex(row.value)));
  }
}

std::vector<std::string> expected_lines(const std::vector<std::unique_ptr<SampleStep>>& steps) {
  std::vector<std::string> lines;
  for (const auto& step : steps) add_lines(step->batch(), lines);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(ReadRunPyTest, ReadsTheGoldenRun) {
  EXPECT_EQ(lines_by_python(golden_path("")), expected_lines(golden_steps()));
}

TEST(ReadRunPyTest, ReadsTheGoldenCompressedRun) {
  EXPECT_EQ(lines_by_python(golden_path("", Golden::kCompressed)), expected_lines(golden_steps(Golden::kCompressed)));
}

TEST(ReadRunPyTest, ReadsTheGoldenReductions) {
  EXPECT_EQ(lines_by_python(golden_path("", Golden::kReductions)), expected_lines(golden_steps(Golden::kReductions)));
}

TEST(ReadRunPyTest, ReadsTheGoldenSamples) {
  const auto steps = golden_steps(Golden::kSamples);
  std::vector<std::string> expected = expected_lines(steps);
  std::vector<SampleBatch> batches;
  for (std::size_t i = 0; i < steps.size(); ++i) batches.push_back(golden_samples(i));
  for (const auto& [metric, samples] : samples_of(batches)) {
    for (const auto& [unix_ns, bits] : samples) {
      expected.push_back(fmt::format("rank-00000 {} {} {} {}", metric, name(batches[0].new_metrics[metric].metric.kind),
                                     unix_ns, hex(std::bit_cast<double>(bits))));
    }
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(lines_by_python(golden_path("", Golden::kSamples)), expected);
}

TEST(ReadRunPyTest, ReadsTheGoldenOperatorCalls) {
  std::vector<std::string> expected = expected_lines(golden_steps(Golden::kOperators));
  for (std::size_t step = 0; step < 4; ++step) {
    const OperatorBatch batch = golden_operators(step);
    for (const OperatorCall& call : batch.calls) {
      expected.push_back(fmt::format("rank-00000 {} {} {} {} {} {} {}", step, hex(as_bytes(batch.names[call.name])),
                                     name(call.kind), batch.tracks[call.track].name, call.start_unix_ns,
                                     call.duration_ns, call.sequence));
    }
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(lines_by_python(golden_path("", Golden::kOperators)), expected);
}

TEST(ReadRunPyTest, ReadsARunOnADisk) {
  const TemporaryFolder folder;
  const auto storage = storage::open_local_storage(folder.path());
  std::vector<std::unique_ptr<SampleStep>> steps;
  for (int step = 0; step < 4; ++step) steps.push_back(step_of_everything(step, Mode::kTrain, step, step == 0));
  {
    const FakeClock clock;
    JournalOptions options = sample_journal_options();
    options.segment_bytes = 10'000;
    ASSERT_TRUE(create_or_join_run(*storage, sample_run_info()).ok());
    const auto writer = open_sample_writer(*storage, clock, options);
    for (const auto& step : steps) ASSERT_TRUE(writer->append_step(step->batch()).ok());
  }
  EXPECT_GT(list_segments(*storage, "rank-00000").value().size(), 1u);
  EXPECT_EQ(lines_by_python(folder.path()), expected_lines(steps));

  const auto reader = open_sample_reader(*storage, true);
  ASSERT_EQ(reader->steps().size(), steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(difference(*reader, i, steps[i]->batch()), "");
}

TEST(ReadRunPyTest, ListsARunFromTheCommandLine) {
  const std::string command =
      fmt::format("/usr/bin/python3 -B {} {}", TW_SOURCE_DIR "/docs/format/read_run.py", golden_path(""));
  EXPECT_NE(output_of(command).find(sample_name(11)), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::journal
