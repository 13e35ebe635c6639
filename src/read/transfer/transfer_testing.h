// What the tests of exports and imports share: folders, and runs on the disk.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "trainwarden/transfer.h"

namespace trainwarden::transfer {

// A folder of its own for each test, removed afterwards.
class TransferTest : public testing::Test {
 protected:
  std::filesystem::path in(const std::string& name) const { return folder_.path() / name; }

 private:
  const TestFolder folder_;
};

// A finished run with a value of each dtype, statistics, shapes, scalars, single reductions, texts and modes.
std::unique_ptr<Trial> write_sample_run(const std::filesystem::path& folder);

// A whole export; a failure fails the test.
ExportReport export_all(Trial& trial, ExportOptions options);

std::string read_text(const std::filesystem::path& file);
// The note of this cause; null when there is none.
const ExportNote* find_note(const ExportReport& report, std::string_view cause);

// Recorded runs of smdebug; empty when they are not on this machine.
std::filesystem::path recorded_smdebug_runs();

}  // namespace trainwarden::transfer
