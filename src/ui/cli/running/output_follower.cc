#include "ui/cli/running/output_follower.h"

#include <unistd.h>

#include <span>

#include "core/base/text.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

// Takes "[3] " off a line of one of so many ranks; nothing when it does not begin so.
std::optional<std::int64_t> take_rank(std::string_view& line, std::int64_t ranks) {
  const std::size_t end = line.find("] ");
  if (!line.starts_with('[') || end == std::string_view::npos) return std::nullopt;
  const std::optional<std::int64_t> rank = parse_int(line.substr(1, end - 1));
  if (!rank || *rank < 0 || *rank >= ranks) return std::nullopt;
  line.remove_prefix(end + 2);
  return rank;
}

}  // namespace

std::uint64_t OutputFollower::bytes_of(const std::filesystem::path& file) {
  const storage::Location folder(file.parent_path());
  const auto info = folder.storage().info(file.filename().string());
  return info.ok() ? info->bytes : 0;
}

Status OutputFollower::print_new() {
  const auto file = folder_.storage().open(file_);
  if (!file.ok()) return Status();
  std::string piece(kPieceBytes, '\0');
  for (;;) {
    const auto bytes = (*file)->read_at(printed_, std::as_writable_bytes(std::span(piece)));
    if (!bytes.ok() || *bytes == 0) break;
    print(std::string_view(piece).substr(0, *bytes));
    printed_ += *bytes;
  }
  return flush_output();
}

void OutputFollower::print(std::string_view bytes) {
  if (json_ || isatty(STDOUT_FILENO) != 0) {
    lines_.append(bytes, [this](const log_metrics::LogRecord& record) { print_line(record); });
  } else {
    emit("{}", Painted{bytes});
  }
}

void OutputFollower::print_line(const log_metrics::LogRecord& record) const {
  if (!json_) return emit("{}{}\n", record.text, record.cut ? " [the rest of the line is cut]" : "");
  std::string_view text = record.text;
  std::optional<std::int64_t> rank = json_->rank;
  if (!rank && json_->ranks > 1) rank = take_rank(text, json_->ranks);
  OrderedJson json = {{"rank", rank ? OrderedJson(*rank) : OrderedJson(nullptr)}, {"text", text}};
  if (record.cut) json["cut"] = true;
  print_json_line(json);
}

Status OutputFollower::finish() {
  TRAINWARDEN_RETURN_IF_ERROR(print_new());
  lines_.finish([this](const log_metrics::LogRecord& record) { print_line(record); });
  return flush_output();
}

}  // namespace trainwarden::cli
