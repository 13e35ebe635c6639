// Files that smdebug, TensorBoard and others wrote: all of them are read, and those of smdebug written again.
#include <gtest/gtest.h>

#include <test_paths.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "data/foreign/smdebug_index.h"
#include "data/foreign/smdebug_layout.h"
#include "data/foreign/smdebug_manifest.h"
#include "data/foreign/tf_event.h"
#include "data/foreign/tf_record.h"
#include "data/format/json.h"

namespace trainwarden::foreign {
namespace {

// Recorded files, which lie beside the source tree or where TRAINWARDEN_SHARED_DATA points; empty when they do not.
std::vector<std::filesystem::path> shared_files(std::string_view folder, std::string_view part_of_name) {
  const char* root = std::getenv("TRAINWARDEN_SHARED_DATA");
  const std::filesystem::path data = root != nullptr ? root : TW_SOURCE_DIR "/../shared/data";
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(data / folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data / folder)) {
    if (entry.path().filename().string().find(part_of_name) != std::string::npos) files.push_back(entry.path());
  }
  return files;
}

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(RecordedFilesTest, FilesOfTensorBoardAreRead) {
  const auto files = shared_files("telemetry/tfevents", "tfevents");
  if (files.empty()) GTEST_SKIP() << "no recorded event files; TRAINWARDEN_SHARED_DATA names their folder";
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    const std::string bytes = read_whole(file);
    RecordWalk walk(as_bytes(bytes));
    std::size_t events = 0;
    for (auto payload = walk.next(); payload.ok() && *payload; payload = walk.next(), ++events) {
      const auto event = decode_event(**payload);
      ASSERT_TRUE(event.ok()) << event.status().to_string();
      EXPECT_GT(event->wall_time_s, 1.4e9);
      if (events == 0) {
        EXPECT_EQ(event->file_version, "brain.Event:2");
      }
    }
    EXPECT_EQ(walk.offset(), bytes.size());
    EXPECT_GT(events, 1u);
  }
}

TEST(RecordedFilesTest, FilesOfSmdebugAreWrittenAgainByteForByte) {
  const auto files = shared_files("smdebug_trials", "tfevents");
  if (files.empty()) GTEST_SKIP() << "no recorded trials; TRAINWARDEN_SHARED_DATA names their folder";
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    const std::string bytes = read_whole(file);
    std::string written;
    RecordWalk walk(as_bytes(bytes));
    for (auto payload = walk.next(); payload.ok() && *payload; payload = walk.next()) {
      const auto event = decode_event(**payload);
      ASSERT_TRUE(event.ok()) << event.status().to_string();
      ASSERT_EQ(event->values.size(), 1u);
      const TfValue& value = event->values.front();
      ASSERT_TRUE(value.tensor);
      TensorView view = value.tensor->view();
      const std::vector<std::string_view> texts(value.tensor->strings.begin(), value.tensor->strings.end());
      if (view.dtype == DType::kString) view.data = texts.data();
      append_record(
          written,
          as_bytes(encode_tensor_event(event->wall_time_s, event->step, value.tag, view, value.plugin_data, true)),
          RecordFooter::kConstant);
    }
    EXPECT_TRUE(written == bytes);
  }
}

TEST(RecordedFilesTest, IndexesLieWhereTheLayoutSays) {
  const auto files = shared_files("smdebug_trials", "worker_0.json");
  if (files.empty()) GTEST_SKIP() << "no recorded trials; TRAINWARDEN_SHARED_DATA names their folder";
  for (const auto& file : files) {
    const std::string file_name = file.filename().string();
    const auto name = parse_smdebug_index_name(file_name);
    ASSERT_TRUE(name) << file;
    EXPECT_TRUE(file.string().ends_with("/" + smdebug_index_file(name->step, name->worker))) << file;
  }
}

TEST(RecordedFilesTest, IndexesAreReadAndWrittenTheSame) {
  const auto files = shared_files("smdebug_trials", "worker_0.json");
  if (files.empty()) GTEST_SKIP() << "no recorded trials; TRAINWARDEN_SHARED_DATA names their folder";
  SmdebugIndexParser parser;
  SmdebugIndex index;
  for (const auto& file : files) {
    const std::string json = read_whole(file);
    const Status status = parser.parse(json, index);
    ASSERT_TRUE(status.ok()) << file << ": " << status.to_string();
    EXPECT_EQ(format::Json::parse(encode_smdebug_index(index)), format::Json::parse(json)) << file;
  }
}

TEST(RecordedFilesTest, ManifestsAreReadAndWrittenTheSame) {
  const auto files = shared_files("smdebug_trials", "_collections.json");
  if (files.empty()) GTEST_SKIP() << "no recorded trials; TRAINWARDEN_SHARED_DATA names their folder";
  for (const auto& file : files) {
    const std::string json = read_whole(file);
    const auto manifest = decode_smdebug_manifest(json);
    ASSERT_TRUE(manifest.ok()) << file << ": " << manifest.status().to_string();
    EXPECT_EQ(format::Json::parse(encode_smdebug_manifest(*manifest)), format::Json::parse(json)) << file;
  }
}

}  // namespace
}  // namespace trainwarden::foreign
