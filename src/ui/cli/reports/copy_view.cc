#include "ui/cli/reports/copy_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

using copy::CopyEnds;
using copy::CopyOptions;
using copy::CopySummary;

constexpr std::int64_t kSpeedWindowNs = 10'000'000'000;
constexpr std::int64_t kSpeedFromNs = 1'000'000'000;
constexpr double kNsInSecond = 1e9;
constexpr std::size_t kMaxShownNames = 10;

std::string count_of(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string shown_path(const std::string& path) {
  return path.empty() ? "it" : path;
}

void print_names(const std::vector<std::string>& names, std::string_view what) {
  if (names.empty()) return;
  const std::size_t shown = std::min(names.size(), kMaxShownNames);
  const std::vector<std::string> first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown));
  emit(stderr, "trainwarden: {}: {}{}\n", what, fmt::join(first, ", "),
       names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "");
}

void print_what_went_wrong(const CopySummary& summary) {
  const std::size_t links = summary.links.size();
  print_names(summary.links,
              fmt::format("{} {} not followed and not copied", count_of(links, "link"), links == 1 ? "was" : "were"));
  std::size_t told = 0;
  for (const copy::LeftOut& left : summary.left_out) {
    if (++told <= kMaxShownNames)
      emit(stderr, "trainwarden: warning: {} was left out: {}\n", left.path, Message{left.why});
  }
  for (const copy::CopyProblem& problem : summary.problems) {
    if (++told > kMaxShownNames) continue;
    emit(stderr, "trainwarden: error: {} was not copied: {}\n", shown_path(problem.path),
         Message{problem.status.message()});
  }
  if (told > kMaxShownNames) emit(stderr, "trainwarden: and {} more; --json has them all\n", told - kMaxShownNames);
  if (summary.ended_by.ok()) return;
  const std::uint64_t done = summary.files_copied + summary.files_same + summary.problems.size();
  emit(stderr,
       "trainwarden: error: {} not copied: {}; the same command goes on, and with --abandon it removes what was "
       "begun\n",
       count_of(summary.files - std::min(done, summary.files), "file"), Message{summary.ended_by.message()});
}

void print_plan(const CopySummary& summary) {
  for (const std::string& path : summary.copied) emit("copy {}\n", shown_path(path));
  if (summary.copied.size() < summary.files_copied)
    emit("and {} more to copy\n", summary.files_copied - summary.copied.size());
  for (const std::string& path : summary.removed) emit("remove {}\n", path);
}

}  // namespace

std::string CopySpeed::text(const copy::CopyProgress& progress) {
  return text_at(progress, system_clock().steady_ns());
}

std::string CopySpeed::text_at(const copy::CopyProgress& progress, std::int64_t steady_ns) {
  if (!progress.trouble.empty()) return fmt::format("waiting: {}; Ctrl-C leaves", progress.trouble);
  if (progress.is_listing) return "looking what is there";
  moved_.emplace_back(steady_ns, progress.bytes_moved);
  while (moved_.size() > 2 && steady_ns - moved_.front().first > kSpeedWindowNs) moved_.pop_front();
  const std::uint64_t done = std::min(progress.bytes_done, progress.bytes);
  std::string text = fmt::format("{} of {}", format_bytes(done), format_bytes(progress.bytes));
  const std::int64_t ns = steady_ns - moved_.front().first;
  const std::uint64_t moved = progress.bytes_moved - moved_.front().second;
  if (ns >= kSpeedFromNs && moved > 0) {
    const double speed = static_cast<double>(moved) / (static_cast<double>(ns) / kNsInSecond);
    const double left_s = static_cast<double>(progress.bytes - done) / speed;
    text += fmt::format(", {}/s, {} left", format_bytes(static_cast<std::uint64_t>(speed)),
                        format_duration_ns(static_cast<std::int64_t>(std::max(left_s, 1.0)) * 1'000'000'000));
  }
  return fmt::format("{}; {} of {}", text, progress.files_done, count_of(progress.files, "file"));
}

void print_copy(const CopyEnds& ends, const CopyOptions& options, const CopySummary& summary) {
  if (options.abandons) {
    emit("{}: {} removed\n", ends.to_address, count_of(summary.unfinished_ended, "half-copied file"));
    print_what_went_wrong(summary);
    return;
  }
  if (options.dry_run) print_plan(summary);
  std::string text = fmt::format("{}{} copied, {}", count_of(summary.files_copied, "file"),
                                 options.dry_run ? " would be" : "", format_bytes(summary.bytes_copied));
  if (summary.bytes_resumed > 0)
    text += fmt::format(" ({} were there of an earlier try)", format_bytes(summary.bytes_resumed));
  if (summary.files_same > 0) text += fmt::format("; {} there already", summary.files_same);
  if (summary.files_removed > 0)
    text += fmt::format("; {}{} removed", summary.files_removed, options.dry_run ? " would be" : "");
  emit("{}: {}\n", ends.to_address, text);
  print_what_went_wrong(summary);
}

void print_copy_as_json(const CopyEnds& ends, const CopyOptions& options, const CopySummary& summary) {
  OrderedJson left_out = OrderedJson::array(), problems = OrderedJson::array();
  for (const copy::LeftOut& left : summary.left_out) left_out.push_back({{"path", left.path}, {"why", left.why}});
  for (const copy::CopyProblem& problem : summary.problems) {
    problems.push_back({{"path", problem.path}, {"problem", problem.status.to_string()}});
  }
  OrderedJson document = {
      {"from", ends.from_address},
      {"to", ends.to_address},
      {"dry_run", options.dry_run},
      {"files", summary.files},
      {"bytes", summary.bytes},
      {"files_copied", summary.files_copied},
      {"bytes_copied", summary.bytes_copied},
      {"bytes_resumed", summary.bytes_resumed},
      {"files_same", summary.files_same},
      {"bytes_same", summary.bytes_same},
      {"files_removed", summary.files_removed},
      {"files_checked", summary.files_checked},
      {"unfinished_ended", summary.unfinished_ended},
      {"links", summary.links},
      {"left_out", left_out},
      {"problems", problems},
      {"ended_by", summary.ended_by.ok() ? OrderedJson() : OrderedJson(summary.ended_by.to_string())},
      {"complete", summary.is_complete()}};
  if (options.dry_run) {
    document["copied"] = summary.copied;
    document["removed"] = summary.removed;
  }
  print_json(document);
}

int exit_code_of_copy(const CopySummary& summary) {
  const bool is_damaged = std::any_of(summary.problems.begin(), summary.problems.end(),
                                      [](const auto& problem) { return problem.status.code() == Code::kDataLoss; });
  if (is_damaged) return kExitDataLost;
  return summary.is_complete() ? kExitFine : kExitFailed;
}

}  // namespace trainwarden::cli
