// Values in shared memory: what is mapped, what is copied, and how long it stays.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/bytes.h"
#include "core/base/folder_testing.h"
#include "read/trial/run_testing.h"
#include "store/journal/file_maps.h"
#include "store/storage/local_storage.h"
#include "trainwarden/trial.h"

namespace trainwarden {
namespace {

// The run as files; how many segments the worker has written does not matter.
void copy_to(const TestRun& run, storage::Storage& local) {
  const std::string folder = "journal/rank-00000";
  ASSERT_TRUE(local.create_folder(folder).ok());
  ASSERT_TRUE(local.put_if_absent(journal::kRunFile, as_bytes(run.storage()->content(journal::kRunFile))).ok());
  const auto segments = run.storage()->list(folder);
  ASSERT_TRUE(segments.ok());
  for (const std::string& segment : *segments) {
    const std::string path = folder + "/" + segment;
    ASSERT_TRUE(local.put_if_absent(path, as_bytes(run.storage()->content(path))).ok());
  }
}

// As in `trainwarden check`.
class MapsAllowed {
 public:
  MapsAllowed() { journal::allow_file_maps(); }
  ~MapsAllowed() { journal::allow_file_maps(false); }
};

std::vector<float> floats_of(const TensorView& view) {
  std::vector<float> values(static_cast<std::size_t>(view.element_count()));
  std::memcpy(values.data(), view.data, values.size() * sizeof(float));
  return values;
}

TEST(SharedValue, IsMappedForWhoAsksOnceTheRunHasEndedAndOutlivesTheTrial) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1, 2}), strings("s", {"one", "two"})}});
  run.end();
  const TestFolder folder;
  copy_to(run, *storage::open_local_storage(folder.path()));

  const MapsAllowed maps;
  auto trial = Trial::open(folder.path());
  ASSERT_TRUE(trial.ok());
  const auto value = (*trial)->shared_value("w", 0);
  ASSERT_TRUE(value.ok()) << value.status().to_string();
  const auto again = (*trial)->shared_value("w", 0);
  const auto text = (*trial)->shared_value("s", 0);
  trial->reset();
  EXPECT_TRUE(value->mapped);
  EXPECT_EQ(value->view.data, again->view.data);
  EXPECT_EQ(floats_of(value->view), (std::vector<float>{1, 2}));
  EXPECT_FALSE(text->mapped);
  EXPECT_EQ(static_cast<const std::string_view*>(text->view.data)[1], "two");
}

// Who serves a run for days must outlive whatever is done to its files: a copy of a mapping that is cut is a SIGBUS.
TEST(SharedValue, OutlivesAFileThatIsCut) {
  std::vector<float> values(100'000, 1.5F);
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", values), summarised("s", values)}});
  run.end();
  const TestFolder folder;
  const auto local = storage::open_local_storage(folder.path());
  copy_to(run, *local);
  const std::string segment = "journal/rank-00000/" + run.storage()->list("journal/rank-00000")->front();
  const std::string whole = run.storage()->content(segment);
  const std::string file = local->describe(segment);

  auto trial = Trial::open(folder.path());
  ASSERT_TRUE(trial.ok());
  std::vector<SharedTensorValue> seen;
  seen.push_back((*trial)->shared_value("w", 0).value());
  std::jthread cutting([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::filesystem::resize_file(file, 4096);
      std::ofstream(file, std::ios::binary | std::ios::in) << whole;
    }
  });
  for (int i = 0; i < 300; ++i) {
    const auto value = (*trial)->shared_value("w", 0);
    if (value.ok()) {
      seen.push_back(*value);
    } else {
      EXPECT_EQ(value.status().code(), Code::kDataLoss) << value.status().to_string();
    }
    static_cast<void>((*trial)->statistics("w", 0));
    seen.resize(std::min<std::size_t>(seen.size(), 8));
    for (const SharedTensorValue& each : seen) EXPECT_EQ(floats_of(each.view).size(), values.size());
  }
  cutting.request_stop();
  cutting.join();
  EXPECT_EQ(floats_of(seen.front().view), values);
}

TEST(SharedValue, IsACopyWhileTheRunIsWritten) {
  const TestFolder folder;
  const auto local = storage::open_local_storage(folder.path());
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1, 2})}});
  copy_to(run, *local);
  const auto writer = local->lock(journal::writer_lock("rank-00000"));  // as a living writer has it
  ASSERT_TRUE(writer.ok());
  const MapsAllowed maps;
  auto trial = Trial::open(folder.path());
  const auto value = (*trial)->shared_value("w", 0);
  ASSERT_TRUE(value.ok()) << value.status().to_string();
  EXPECT_FALSE(value->mapped);
  EXPECT_EQ(floats_of(value->view), (std::vector<float>{1, 2}));
}

TEST(SharedValue, IsACopyWhereFilesCannotBeMapped) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {3})}});
  run.end();
  const auto value = run.open()->shared_value("w", 0);
  ASSERT_TRUE(value.ok());
  EXPECT_FALSE(value->mapped);
  EXPECT_EQ(floats_of(value->view), (std::vector<float>{3}));
}

TEST(SharedValue, SaysWhatIsMissing) {
  TestRun run;
  run.add({.step = 0, .tensors = {reduced("w", {3})}});
  run.end();
  const auto trial = run.open();
  EXPECT_EQ(trial->shared_value("w", 0).status().code(), Code::kOutOfRange);
  EXPECT_EQ(trial->shared_value("none", 0).status().code(), Code::kNotFound);
}

TEST(SharedValue, DamageIsFoundInAMappedFile) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1, 2})}});
  run.end();
  const std::string path = "journal/rank-00000/" + run.storage()->list("journal/rank-00000")->front();
  std::string content = run.storage()->content(path);
  const float two = 2;
  const std::size_t at = content.find(std::string(reinterpret_cast<const char*>(&two), sizeof two));
  ASSERT_NE(at, std::string::npos);
  content[at + 1] = static_cast<char>(content[at + 1] ^ 1);
  run.storage()->set_content(path, content);
  const TestFolder folder;
  copy_to(run, *storage::open_local_storage(folder.path()));
  auto trial = Trial::open(folder.path());
  EXPECT_EQ((*trial)->shared_value("w", 0).status().code(), Code::kDataLoss);
  const MapsAllowed maps;
  EXPECT_EQ((*trial)->shared_value("w", 0).status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace trainwarden
