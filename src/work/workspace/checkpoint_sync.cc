#include "work/workspace/checkpoint_sync.h"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "work/workspace/files_within.h"

namespace trainwarden::workspace {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFiles = 100'000;
constexpr const char* kPartial = ".trainwarden-partial";
constexpr std::chrono::milliseconds kQuiet{1000};

Status failed(std::string_view what, const fs::path& path, const std::error_code& error) {
  return Status(Code::kInternal, fmt::format("cannot {} {}: {}", what, printable(path.string()), error.message()));
}

Result<std::vector<fs::path>> files_of(const fs::path& folder) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<fs::path> files, files_within(folder, kMaxFiles));
  std::erase_if(files, [](const fs::path& file) { return file.extension() == kPartial; });
  return files;
}

Status copy_whole(const fs::path& source, const fs::path& target) {
  const fs::path partial = target.string() + kPartial;
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  if (!error) fs::copy_file(source, partial, fs::copy_options::overwrite_existing, error);
  if (!error) fs::last_write_time(partial, fs::last_write_time(source, error), error);
  if (!error) fs::rename(partial, target, error);
  return error ? failed("copy", source, error) : Status();
}

}  // namespace

CheckpointSync::CheckpointSync(fs::path written, fs::path kept)
    : written_(std::move(written)), kept_(std::move(kept)) {}

CheckpointSync::~CheckpointSync() = default;

Status CheckpointSync::restore() {
  for (const fs::path& folder : {written_, kept_}) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return failed("make", folder, error);
  }
  if (written_ == kept_) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<fs::path> files, files_of(kept_));
  for (const fs::path& file : files) {
    std::error_code error;
    if (!fs::exists(written_ / file, error)) TRAINWARDEN_RETURN_IF_ERROR(copy_whole(kept_ / file, written_ / file));
  }
  return Status();
}

void CheckpointSync::start(std::chrono::milliseconds interval) {
  if (written_ == kept_) return;
  thread_ = std::jthread([this, interval](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, interval, [&stop] { return stop.stop_requested(); })) {
      if (const Status copied = copy_new(kQuiet); !copied.ok()) {
        log(LogLevel::kWarning, "checkpoints are not kept for now: {}", copied.message());
      }
    }
  });
}

Status CheckpointSync::finish() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  return written_ == kept_ ? Status() : copy_new(std::chrono::milliseconds(0));
}

Status CheckpointSync::copy_new(std::chrono::milliseconds quiet) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<fs::path> files, files_of(written_));
  for (const fs::path& file : files) {
    std::error_code error;
    const Seen now{fs::file_size(written_ / file, error), fs::last_write_time(written_ / file, error)};
    if (error || fs::file_time_type::clock::now() - now.changed < quiet) continue;  // gone again, or still written
    const auto [before, is_new] = copied_.try_emplace(file.string());
    if (!is_new && before->second == now) continue;
    TRAINWARDEN_RETURN_IF_ERROR(copy_whole(written_ / file, kept_ / file));
    before->second = now;
  }
  return Status();
}

}  // namespace trainwarden::workspace
