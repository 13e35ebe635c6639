#include "crashing_storage.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "data/format/frame.h"
#include "store/storage/forwarding_storage.h"

namespace trainwarden::crash {
namespace {

using format::FrameKind;
using Parts = std::span<const ByteSpan>;

[[noreturn]] void die() {
  for (;;) ::kill(::getpid(), SIGKILL);
}

// Counts how often the chosen point was reached.
class Trigger {
 public:
  Trigger(std::string point, int count) : point_(std::move(point)), left_(count) {}

  // True when this is where the process is to die.
  bool reached(std::string_view point) { return point == point_ && --left_ == 0; }
  void pass(std::string_view point) {
    if (reached(point)) die();
  }

 private:
  const std::string point_;
  std::atomic<int> left_;  // several threads may write
};

// Where the first frame of this kind begins among the parts, their number when there is none.
std::size_t find_frame(Parts parts, FrameKind kind) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].size() != format::kFrameHeaderBytes) continue;
    const auto header = format::decode_frame_header(parts[i]);
    if (header.ok() && header->kind == kind) return i;
  }
  return parts.size();
}

std::vector<ByteSpan> first_half(Parts parts) {
  std::size_t left = 0;
  for (const ByteSpan part : parts) left += part.size();
  left /= 2;
  std::vector<ByteSpan> half;
  for (const ByteSpan part : parts) {
    half.push_back(part.first(std::min(part.size(), left)));
    left -= half.back().size();
  }
  return half;
}

class CrashingFile final : public storage::WritableFile {
 public:
  CrashingFile(std::unique_ptr<storage::WritableFile> base, std::shared_ptr<Trigger> trigger)
      : base_(std::move(base)), trigger_(std::move(trigger)) {}

  Status append(Parts parts) override {
    return find_frame(parts, FrameKind::kTrailer) < parts.size() ? append_seal(parts) : append_frames(parts);
  }
  Status sync() override { return base_->sync(); }
  Status close() override { return base_->close(); }
  std::uint64_t bytes() const override { return base_->bytes(); }

 private:
  Status append_frames(Parts parts) {
    trigger_->pass("before_append");
    if (trigger_->reached("torn_append")) append_and_die(first_half(parts));
    const Status status = base_->append(parts);
    trigger_->pass("after_append");
    return status;
  }

  Status append_seal(Parts parts) {
    trigger_->pass("before_seal");
    if (trigger_->reached("between_index_and_trailer")) {
      append_and_die(parts.first(find_frame(parts, FrameKind::kTrailer)));
    }
    const Status status = base_->append(parts);
    trigger_->pass("after_seal");
    return status;
  }

  [[noreturn]] void append_and_die(Parts parts) {
    static_cast<void>(base_->append(parts));
    die();
  }

  const std::unique_ptr<storage::WritableFile> base_;
  const std::shared_ptr<Trigger> trigger_;
};

class CrashingStorage final : public storage::ForwardingStorage {
 public:
  CrashingStorage(std::unique_ptr<storage::Storage> base, std::string point, int count)
      : ForwardingStorage(*base),
        base_(std::move(base)),
        trigger_(std::make_shared<Trigger>(std::move(point), count)) {}

  Result<std::unique_ptr<storage::WritableFile>> create(const std::string& path) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto file, base_->create(path));
    trigger_->pass("after_segment_create");
    return std::unique_ptr<storage::WritableFile>(std::make_unique<CrashingFile>(std::move(file), trigger_));
  }

 private:
  const std::unique_ptr<storage::Storage> base_;
  const std::shared_ptr<Trigger> trigger_;
};

}  // namespace

const std::vector<std::string>& crash_points() {
  static const std::vector<std::string> points = {
      "after_segment_create",      "before_append", "torn_append", "after_append", "before_seal",
      "between_index_and_trailer", "after_seal"};
  return points;
}

std::shared_ptr<storage::Storage> create_crashing_storage(std::unique_ptr<storage::Storage> base, std::string point,
                                                          int count) {
  return std::make_shared<CrashingStorage>(std::move(base), std::move(point), count);
}

}  // namespace trainwarden::crash
