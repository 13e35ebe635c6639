#include "ui/cli/running/report_files.h"

#include <array>
#include <fstream>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "data/format/parse_json.h"
#include "read/transfer/output_file.h"
#include "ui/answers/one_file_page.h"
#include "ui/answers/profile_document.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPageMark = "<!-- A report of Trainwarden, which writes it anew when asked for it again -->";
constexpr std::string_view kDocumentMark = R"({"run":{"name":)";  // as profile documents begin
constexpr const char* kView = "system";                           // of the page, which the report opens at

// Does a mark of ours stand where it belongs, at the beginning of the file?
bool begins_with(const fs::path& path, std::string_view mark) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 512> head{};
  file.read(head.data(), head.size());
  const std::string_view text(head.data(), static_cast<std::size_t>(file.gcount()));
  return text.find(mark) != std::string_view::npos;
}

Status check_place(const fs::path& path, std::string_view mark) {
  std::error_code ignored;
  const fs::file_status there = fs::symlink_status(path, ignored);
  if (!fs::exists(there)) return {};
  if (!fs::is_regular_file(there)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: expected the name of a new file or of a report, found {}", path.string(),
                              fs::is_directory(there) ? "a folder"
                              : fs::is_symlink(there) ? "a link"
                                                      : "a device"));
  }
  if (begins_with(path, mark)) return {};
  return Status(
      Code::kAlreadyExists,
      fmt::format("{} is there and no report of ours; give another name with -o, or move it away", path.string()));
}

Status check_meanwhile(const fs::path& path) {
  std::error_code ignored;
  const fs::path meanwhile = path.string() + ".tmp";
  if (!fs::exists(fs::symlink_status(meanwhile, ignored))) return {};
  return Status(
      Code::kAlreadyExists,
      fmt::format("{} is there, and a report has this name until it is whole; move it away", meanwhile.string()));
}

// "first.html" has "first.json" beside it; any other name gets ".json" after it.
fs::path document_beside(const fs::path& page) {
  if (page.extension() == ".json" || page.extension().empty()) return page.string() + ".json";
  return fs::path(page).replace_extension(".json");
}

std::string verdict_in(const std::string& document) {
  constexpr format::JsonLimits kOurOwn{.values = std::numeric_limits<std::uint64_t>::max()};
  const auto json = format::parse_json(document, "the profile", kOurOwn);
  if (!json.ok()) return "";
  return json->value("verdict", format::Json::object()).value("text", "");
}

}  // namespace

Result<ReportFiles> write_run_report(const storage::Location& run) {
  ReportFiles files{"", run.beneath(kRunReportDocument).address()};
  TRAINWARDEN_RETURN_IF_ERROR(run.storage().create_folder("reports"));
  std::string document;
  const auto made =
      answers::one_file_page(run, {.contents = answers::Contents::kProfile}, {kView, std::string(kPageMark)});
  if (made.ok()) {
    TRAINWARDEN_RETURN_IF_ERROR(run.storage().replace(kRunReportPage, as_bytes(made->html)));
    files.page = run.beneath(kRunReportPage).address();
    files.page_bytes = made->html.size();
    document = made->document;
  } else if (made.status().code() == Code::kFailedPrecondition) {
    TRAINWARDEN_ASSIGN_OR_RETURN(document, answers::profile_document(run));
  } else {
    return made.status();
  }
  files.verdict = verdict_in(document);
  TRAINWARDEN_RETURN_IF_ERROR(run.storage().replace(kRunReportDocument, as_bytes(document + "\n")));
  files.document_bytes = document.size() + 1;
  return files;
}

Result<ReportFiles> write_report_files(const storage::Location& run, const fs::path& page,
                                       const std::optional<storage::Location>& against) {
  ReportFiles files{page, document_beside(page)};
  for (const auto& [path, mark] : {std::pair(files.page, kPageMark), std::pair(files.document, kDocumentMark)}) {
    TRAINWARDEN_RETURN_IF_ERROR(check_place(path, mark));
    TRAINWARDEN_RETURN_IF_ERROR(check_meanwhile(path));
  }
  const answers::ArchiveChoice choice{.contents = answers::Contents::kProfile, .against = against};
  TRAINWARDEN_ASSIGN_OR_RETURN(const answers::OneFilePage made,
                               answers::one_file_page(run, choice, {kView, std::string(kPageMark)}));
  transfer::OutputTally tally;
  TRAINWARDEN_RETURN_IF_ERROR(transfer::write_file(files.page, made.html, tally));
  files.page_bytes = tally.bytes;
  TRAINWARDEN_RETURN_IF_ERROR(transfer::write_file(files.document, made.document + "\n", tally));
  files.document_bytes = tally.bytes - files.page_bytes;
  files.verdict = verdict_in(made.document);
  return files;
}

}  // namespace trainwarden::cli
