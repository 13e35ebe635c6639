// Report files: a run's profile as a page in one file, and beside it the same as JSON.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

struct ReportFiles {
  std::filesystem::path page;
  std::filesystem::path document;
  std::uint64_t page_bytes = 0;
  std::uint64_t document_bytes = 0;
  std::string verdict;  // its text
};

// Replaces reports that we have written, and nothing else: kAlreadyExists for a file that is none, kInvalidArgument for
// a link, a folder or a device. The errors of reading the run; kFailedPrecondition when this program has no page.
Result<ReportFiles> write_report_files(const storage::Location& run, const std::filesystem::path& page,
                                       const std::optional<storage::Location>& against = std::nullopt);

inline constexpr const char* kReportRule = "ProfilerReport";  // asks for a report at a run's end
inline constexpr const char* kRunReportPage = "reports/profiler.html";
inline constexpr const char* kRunReportDocument = "reports/profiler.json";

// The same within the run's own folder; a program without its page writes the document alone, and `page` is empty.
Result<ReportFiles> write_run_report(const storage::Location& run);

}  // namespace trainwarden::cli
