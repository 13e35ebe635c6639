// LiveExport: shows a run to TensorBoard while it is written, in a thread of its own.
#pragma once

#include <filesystem>
#include <thread>

#include "trainwarden/status.h"
#include "trainwarden/transfer.h"

namespace trainwarden::cli {

class LiveExport {
 public:
  // Starts at once; waits for the run to appear.
  LiveExport(std::filesystem::path run, std::filesystem::path board);

  // The program has ended: takes what is there and ends. Once. kNotFound when the run never appeared.
  Result<ExportReport> result();

 private:
  void work(const std::stop_token& stop);
  Result<ExportReport> follow(const std::stop_token& stop);

  const std::filesystem::path run_;
  const std::filesystem::path board_;
  Result<ExportReport> result_ = Status(Code::kCancelled, "the export has not ended");  // the thread's until it ends
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace trainwarden::cli
