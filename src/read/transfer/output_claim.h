// OutputClaim: makes sure that an export does not write over somebody's files, and where an unfinished one goes on.
//
// In a folder that an export writes lies .trainwarden-export.json: which run, which format, which choice, and the last
// step that is whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "read/transfer/output_file.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"
#include "trainwarden/transfer.h"

namespace trainwarden::transfer {

inline constexpr const char* kClaimFile = ".trainwarden-export.json";
inline constexpr const char* kClaimLock = ".trainwarden-export.lock";  // held as long as somebody writes

bool writes_one_file(ExportFormat format);

class OutputClaim {
 public:
  // kAlreadyExists when options.out holds something that is not an unfinished export of the same run and choice, and
  // options.force is not set, and when another process is writing an export there.
  static Result<OutputClaim> take(const ExportOptions& options, const std::string& run_id);

  std::int64_t last_step() const { return last_step_; }  // global; -1: from the start
  Status mark(std::int64_t last_step, bool finished);    // nothing for formats of one file

 private:
  OutputClaim(std::filesystem::path file, std::string identity)
      : file_(std::move(file)), identity_(std::move(identity)) {}
  // May the export write to what is there already, and from which step on?
  Status go_on(const ExportOptions& options);
  Status lock(const std::filesystem::path& folder);

  std::filesystem::path file_;  // empty for formats of one file
  std::string identity_;        // what must be the same, as JSON
  std::int64_t last_step_ = -1;
  std::unique_ptr<storage::Lock> lock_;
};

}  // namespace trainwarden::transfer
