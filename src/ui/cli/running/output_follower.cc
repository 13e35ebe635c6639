#include "ui/cli/running/output_follower.h"

#include <unistd.h>

#include <span>
#include <string>

#include "store/storage/location.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

void print_line(const log_metrics::LogRecord& record) {
  emit("{}\n", record.text);
}

}  // namespace

std::uint64_t OutputFollower::bytes_of(const std::filesystem::path& file) {
  const storage::Location folder(file.parent_path());
  const auto info = folder.storage().info(file.filename().string());
  return info.ok() ? info->bytes : 0;
}

void OutputFollower::print_new() {
  const storage::Location folder(file_.parent_path());
  const auto file = folder.storage().open(file_.filename().string());
  if (!file.ok()) return;
  std::string piece(kPieceBytes, '\0');
  for (;;) {
    const auto bytes = (*file)->read_at(printed_, std::as_writable_bytes(std::span(piece)));
    if (!bytes.ok() || *bytes == 0) break;
    print(std::string_view(piece).substr(0, *bytes));
    printed_ += *bytes;
  }
  std::fflush(stdout);
}

void OutputFollower::print(std::string_view bytes) {
  if (isatty(STDOUT_FILENO) != 0) {
    lines_.append(bytes, print_line);
  } else {
    emit("{}", Painted{bytes});
  }
}

void OutputFollower::finish() {
  print_new();
  lines_.finish(print_line);
  std::fflush(stdout);
}

}  // namespace trainwarden::cli
