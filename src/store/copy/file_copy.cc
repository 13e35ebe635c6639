#include "store/copy/file_copy.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/copy/content_check.h"

namespace trainwarden::copy {
namespace {

constexpr int kMaxTries = 3;

}  // namespace

Status FileCopy::begin() {
  ++tries_;
  receiver_.reset();
  has_failed_ = false;
  failure_ = Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(receiver_,
                               to_.receive(file_, from_.describe(file_.path), before_ ? &*before_ : nullptr));
  chunk_bytes_ = receiver_->chunk_bytes();
  chunks_ = (file_.bytes + chunk_bytes_ - 1) / chunk_bytes_;
  next_chunk_ = std::min(receiver_->first_chunk(), chunks_);
  bytes_there_ = std::min(next_chunk_ * chunk_bytes_, file_.bytes);
  return {};
}

std::optional<std::uint64_t> FileCopy::next_chunk() {
  if (!has_next_chunk()) return std::nullopt;
  return next_chunk_++;
}

std::uint64_t FileCopy::bytes_of_chunk(std::uint64_t chunk) const {
  return std::min(chunk_bytes_, file_.bytes - chunk * chunk_bytes_);
}

Status FileCopy::read_chunk(std::uint64_t chunk, std::string& buffer) {
  buffer.resize(bytes_of_chunk(chunk));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto reader, from_.open(file_));
  return reader->read(chunk * chunk_bytes_, std::as_writable_bytes(std::span(buffer)));
}

Result<Arrival> FileCopy::put_chunk(std::uint64_t chunk, const std::string& buffer) {
  return receiver_->put(chunk, as_bytes(buffer));
}

void FileCopy::fail(std::uint64_t chunk, const Status& status) {
  {
    const std::lock_guard guard(mutex_);
    // That another chunk has failed is no reason of its own.
    if (failure_.ok() || failure_.code() == Code::kCancelled) failure_ = status;
  }
  has_failed_ = true;
  if (receiver_) receiver_->fail(chunk);
}

Status FileCopy::failure() const {
  const std::lock_guard guard(mutex_);
  return failure_;
}

// What was read from a file of this machine may be of two versions of it. One that only grows meanwhile has the
// beginning that was read.
Status FileCopy::check_unchanged() {
  if (file_.identity == 0) return {};  // a bucket gives each version a tag, with which it was asked for
  TRAINWARDEN_ASSIGN_OR_RETURN(const CopyFile now, from_.look(file_));
  const bool is_same = now.bytes == file_.bytes && now.changed_unix_ns == file_.changed_unix_ns;
  if (is_same || now.bytes > file_.bytes) return {};
  return Status(Code::kAborted, fmt::format("{} was changed while it was copied; copy it again once nobody writes it",
                                            from_.describe(file_.path)));
}

Status FileCopy::check_arrived(bool reads_both, bool& is_checked, const std::stop_token& stop) {
  FileReader* const arrived = receiver_->arrived();
  is_checked = arrived == nullptr;
  if (arrived == nullptr) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(auto tags, from_.tags(file_));
  TRAINWARDEN_ASSIGN_OR_RETURN(Sameness sameness, compare_with_tags(*arrived, file_.bytes, tags));
  if (sameness == Sameness::kOther) {
    // A listing does not say whether the tags are digests; a look at the object itself does.
    TRAINWARDEN_ASSIGN_OR_RETURN(const CopyFile now, from_.look(file_));
    TRAINWARDEN_ASSIGN_OR_RETURN(tags, from_.tags(now));
    if (tags.empty()) sameness = Sameness::kUnknown;
  }
  if (sameness == Sameness::kUnknown && reads_both) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto source, from_.open(file_));
    TRAINWARDEN_ASSIGN_OR_RETURN(sameness, compare_bytes(*source, *arrived, file_.bytes, stop));
  }
  is_checked = sameness == Sameness::kSame;
  if (sameness != Sameness::kOther) return {};
  return Status(Code::kDataLoss,
                fmt::format("{} has other bytes than its source after it was copied; nothing is at its "
                            "name",
                            to_.describe(file_.path)));
}

Status FileCopy::finish(bool reads_both, bool& is_checked, const std::stop_token& stop) {
  if (const Status failed = failure(); !failed.ok()) return failed;
  TRAINWARDEN_RETURN_IF_ERROR(check_unchanged());
  const Status arrived = check_arrived(reads_both, is_checked, stop);
  if (arrived.code() == Code::kDataLoss) receiver_->discard();
  TRAINWARDEN_RETURN_IF_ERROR(arrived);
  TRAINWARDEN_RETURN_IF_ERROR(receiver_->finish());
  if (!reads_both || receiver_->arrived() != nullptr) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(const CopyFile there, to_.look(file_));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Sameness sameness, compare_files(from_, file_, to_, there, true, stop));
  if (sameness == Sameness::kSame) return {};
  return Status(Code::kDataLoss,
                fmt::format("{} has other bytes than its source after it was copied", to_.describe(file_.path)));
}

bool FileCopy::may_try_again(const Status& status) {
  const bool is_worth =
      status.code() == Code::kAborted || status.code() == Code::kNotFound || status.code() == Code::kDataLoss;
  if (!is_worth || tries_ >= kMaxTries) return false;
  auto now = from_.look(file_);
  if (!now.ok()) return false;
  file_ = *std::move(now);
  return true;
}

}  // namespace trainwarden::copy
