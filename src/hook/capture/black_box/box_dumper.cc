#include "hook/capture/black_box/box_dumper.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/secret_mask.h"
#include "data/format/control_record.h"
#include "data/format/json.h"

namespace trainwarden::capture {
namespace {

constexpr int kMaxDumpNames = 1000;  // at a name that nobody has taken

// Appends to a file: small pieces are gathered, large ones go as they are.
class FileSink final : public ByteSink {
 public:
  explicit FileSink(storage::WritableFile& file) : file_(file) {}

  void put(ByteSpan bytes) noexcept override {
    if (used_ + bytes.size() > gathered_.size()) {
      append();
      if (bytes.size() > gathered_.size() / 2) return append_through(bytes);
    }
    std::copy(bytes.begin(), bytes.end(), gathered_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ += bytes.size();
  }
  Status finish() {
    append();
    return status_;
  }

 private:
  void append() {
    append_through(ByteSpan(gathered_).first(used_));
    used_ = 0;
  }
  void append_through(ByteSpan bytes) {
    if (status_.ok() && !bytes.empty()) status_ = file_.append({&bytes, 1});
  }

  storage::WritableFile& file_;
  std::array<std::byte, 1 << 16> gathered_;
  std::size_t used_ = 0;
  Status status_;
};

class StringSink final : public ByteSink {
 public:
  void put(ByteSpan bytes) noexcept override { text_ += as_text(bytes); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string why_of(const BlackBoxReason& reason) {
  return format::dump_json(
      {{"kind", reason.kind}, {"message", mask_secrets(reason.message)}, {"rule", reason.rule}, {"signal", nullptr}});
}

}  // namespace

BoxDumper::BoxDumper(std::shared_ptr<storage::Storage> storage, BoxHead head, const BlackBox& box, const Clock& clock)
    : storage_(std::move(storage)),
      head_(std::move(head)),
      box_(box),
      clock_(clock),
      control_(storage_, head_.run_id, format::is_black_box_request_file) {
  if (storage_ != nullptr) {  // shows those who watch that they may ask
    const Status made = storage_->create_folder(format::kBlackBoxFolder);
    if (!made.ok()) log(LogLevel::kWarning, "rules beside the job cannot ask for the black box: {}", made.to_string());
  }
  requests();  // what was asked of an earlier process is over: nothing is held yet
}

std::unique_ptr<BoxDump> BoxDumper::begin(const BlackBoxReason& reason) {
  if (begun_.load() >= kMaxDumps) return nullptr;
  auto dump = std::make_unique<BoxDump>(box_, reason);
  if (dump->snapshot.count == 0 || begun_.fetch_add(1) >= kMaxDumps) return nullptr;
  std::lock_guard lock(mutex_);
  begun_ranges_.push_back(range_of(dump->snapshot));
  return dump;
}

BoxDumper::Range BoxDumper::range_of(const BoxSnapshot& snapshot) {
  return {snapshot.begin()->id.global_step, (snapshot.end() - 1)->id.global_step};
}

bool BoxDumper::has_begun_with(std::int64_t global_step) const {
  std::lock_guard lock(mutex_);
  return std::any_of(begun_ranges_.begin(), begun_ranges_.end(),
                     [&](const Range& range) { return range.holds(global_step); });
}

std::string BoxDumper::written_with(std::int64_t global_step) const {
  std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(written_.begin(), written_.end(), [&](const Range& range) { return range.holds(global_step); });
  return found == written_.end() ? "" : found->path;
}

Result<std::string> BoxDumper::write(const BoxDump& dump) {
  if (storage_ == nullptr) return Status(Code::kFailedPrecondition, "a dry run writes nothing");
  const std::string why = why_of(dump.reason);
  const BoxCause cause{.why = why,
                       .failing_step = dump.reason.failing_step,
                       .unix_ns = clock_.unix_ns(),
                       .ranks = &box_.ranks(),
                       .given_up = box_.given_up(),
                       .steps_without_room = box_.steps_without_room()};
  const BoxStep* const failing = failing_step_of(dump.snapshot, cause);
  const std::int64_t newest = (dump.snapshot.end() - 1)->id.global_step;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string folder, make_folder(failing ? failing->id.global_step : newest));
  const std::string journal = fmt::format("{}/{}", folder, journal::journal_folder(journal::worker_name(0)));
  TRAINWARDEN_RETURN_IF_ERROR(storage_->create_folder(journal));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::unique_ptr<storage::WritableFile> file,
                               storage_->create(fmt::format("{}/{}", journal, journal::segment_file(0))));
  const auto sink = std::make_unique<FileSink>(*file);
  write_journal(head_, dump.snapshot, cause.unix_ns, *sink);
  TRAINWARDEN_RETURN_IF_ERROR(sink->finish());
  TRAINWARDEN_RETURN_IF_ERROR(file->close());
  StringSink replay;
  write_replay(head_, dump.snapshot, cause, replay);
  TRAINWARDEN_RETURN_IF_ERROR(
      storage_->put_if_absent(fmt::format("{}/{}", folder, kReplayFile), as_bytes(replay.text())));
  TRAINWARDEN_RETURN_IF_ERROR(
      storage_->put_if_absent(fmt::format("{}/{}", folder, journal::kRunFile), as_bytes(head_.run_json)));
  Range range = range_of(dump.snapshot);
  range.path = folder;
  std::lock_guard lock(mutex_);
  written_.push_back(std::move(range));
  return folder;
}

// One that nobody has begun: a folder without run.json may be somebody's who is still at it.
Result<std::string> BoxDumper::make_folder(std::int64_t step) {
  for (int attempt = 0; attempt < kMaxDumpNames; ++attempt) {
    std::string folder = fmt::format("{}/{}", format::kBlackBoxFolder, dump_name(step, head_.rank, attempt));
    if (storage_->exists(folder)) continue;
    TRAINWARDEN_RETURN_IF_ERROR(storage_->create_folder(folder));
    return folder;
  }
  return Status(Code::kAlreadyExists, fmt::format("{} is full of dumps of step {}; move some away",
                                                  storage_->describe(format::kBlackBoxFolder), step));
}

std::vector<std::string> BoxDumper::written() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> paths;
  for (const Range& range : written_) paths.push_back(range.path);
  return paths;
}

std::vector<BlackBoxReason> BoxDumper::requests() {
  std::vector<BlackBoxReason> reasons;
  const auto decode = [](std::string_view text, std::string_view) { return format::decode_black_box_request(text); };
  for (format::BlackBoxRequest& request : control_.read_new<format::BlackBoxRequest>(decode)) {
    reasons.push_back({.kind = request.rule.empty() ? "request" : "rule",
                       .message = std::move(request.reason),
                       .rule = std::move(request.rule),
                       .failing_step = request.global_step,
                       .key = std::move(request.key)});
  }
  return reasons;
}

std::string encode_black_box_event(const BlackBoxReason& reason, const Result<std::string>& path) {
  return format::dump_json({{"type", "black_box"},
                            {"path", path.ok() ? *path : ""},
                            {"error", path.ok() ? "" : path.status().to_string()},
                            {"kind", reason.kind},
                            {"message", mask_secrets(reason.message)},
                            {"rule", reason.rule},
                            {"key", reason.key},
                            {"failing_step", reason.failing_step}});
}

}  // namespace trainwarden::capture
