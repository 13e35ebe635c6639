#include "sim_process.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

#include "store/storage/path_rules.h"

namespace trainwarden::torture {
namespace {

using storage::FileInfo;
using Sort = ProcessFate::Sort;

std::string joined(std::span<const ByteSpan> parts) {
  std::string bytes;
  for (const ByteSpan part : parts) bytes += as_text(part);
  return bytes;
}

class SimWritableFile final : public storage::WritableFile {
 public:
  SimWritableFile(SimDisk& disk, SimFilePointer file, std::string path, std::shared_ptr<ProcessFate> fate,
                  std::shared_ptr<std::string> last_file)
      : disk_(disk),
        file_(std::move(file)),
        path_(std::move(path)),
        fate_(std::move(fate)),
        last_file_(std::move(last_file)) {}

  Status append(std::span<const ByteSpan> parts) override;
  Status sync() override;
  Status close() override {
    is_closed_ = true;
    return {};
  }
  std::uint64_t bytes() const override { return bytes_; }

 private:
  Status write(std::string_view bytes, std::size_t wanted);
  bool write_mutated(const std::string& bytes);
  Status closed() const { return Status(Code::kFailedPrecondition, path_ + " is closed, or an append has failed"); }

  SimDisk& disk_;
  const SimFilePointer file_;
  const std::string path_;
  const std::shared_ptr<ProcessFate> fate_;
  const std::shared_ptr<std::string> last_file_;
  std::string held_back_;  // of a mutation
  std::uint64_t bytes_ = 0;
  bool is_closed_ = false;
};

Status SimWritableFile::append(std::span<const ByteSpan> parts) {
  if (is_closed_) return closed();
  const std::string bytes = joined(parts);
  *last_file_ = path_;
  const Turn turn = fate_->next(Sort::kWrites, "append", path_);
  const auto part = static_cast<std::size_t>(fate_->dice().roll(bytes.size()));
  const bool is_torn = turn == Turn::kDiesWithin || (turn == Turn::kFails && part > 0);
  if (is_torn && !fate_->plan().leaves_out(turn == Turn::kFails ? FaultSort::kShortWrite : FaultSort::kTornWrite)) {
    fate_->log().fault(turn == Turn::kFails ? FaultSort::kShortWrite : FaultSort::kTornWrite, "{} of {} bytes", part,
                       bytes.size());
    static_cast<void>(write(bytes, part));
  }
  switch (turn) {
    case Turn::kWorks: return write_mutated(bytes) ? Status() : write(bytes, bytes.size());
    case Turn::kFails:
    case Turn::kFailsAfter:
      if (turn == Turn::kFailsAfter) static_cast<void>(write(bytes, bytes.size()));
      is_closed_ = true;
      return fate_->mutated(Mutation::kErrorSwallowed) ? Status() : fate_->failure("append to", path_);
    case Turn::kDiesAfter: static_cast<void>(write(bytes, bytes.size())); [[fallthrough]];
    default: return fate_->death();
  }
}

Status SimWritableFile::write(std::string_view bytes, std::size_t wanted) {
  const std::size_t written = disk_.append(*file_, bytes.substr(0, wanted));
  bytes_ += written;
  if (written == wanted) return {};
  is_closed_ = true;
  fate_->log().fault(FaultSort::kFullDisk, "{}: {} of {} bytes", path_, written, wanted);
  return Status(Code::kResourceExhausted, "cannot append to " + path_ + ": no space left on device");
}

bool SimWritableFile::write_mutated(const std::string& bytes) {
  if (fate_->mutated(Mutation::kEarlyAnswer)) {
    const std::string earlier = std::exchange(held_back_, bytes);
    disk_.append(*file_, earlier);
  } else if (fate_->mutated(Mutation::kHalfWritten) && fate_->dice().one_in(4)) {
    disk_.append(*file_, std::string_view(bytes).substr(0, bytes.size() / 2));
  } else if (fate_->mutated(Mutation::kAppendTwice) && fate_->dice().one_in(4)) {
    disk_.append(*file_, bytes + bytes);
  } else {
    return false;
  }
  bytes_ += bytes.size();
  return true;
}

Status SimWritableFile::sync() {
  if (is_closed_ && bytes_ == 0) return closed();
  const Turn turn = fate_->next(Sort::kSyncs, "sync", path_);
  if (turn == Turn::kFails || turn == Turn::kFailsAfter) return fate_->failure("sync", path_);
  if (turn != Turn::kWorks && turn != Turn::kDiesAfter) return fate_->death();
  if (!fate_->mutated(Mutation::kSyncDoesNothing)) disk_.sync_bytes(*file_);
  const bool keeps_name = !fate_->mutated(Mutation::kSyncDoesNothing) && !fate_->mutated(Mutation::kSyncForgetsName);
  if (keeps_name) disk_.sync_name(path_);
  fate_->note_synced(path_);
  return turn == Turn::kWorks ? Status() : fate_->death();
}

class SimReadableFile final : public storage::ReadableFile {
 public:
  SimReadableFile(SimFilePointer file, std::string path, std::shared_ptr<ProcessFate> fate)
      : file_(std::move(file)), path_(std::move(path)), fate_(std::move(fate)) {}

  Result<std::size_t> read_at(std::uint64_t offset, MutableByteSpan destination) const override {
    if (const Turn turn = fate_->next(Sort::kReads, "read", path_); turn != Turn::kWorks) return refusal(turn);
    const std::size_t there = shown_bytes();
    if (offset >= there) return std::size_t{0};
    const std::size_t count = std::min<std::size_t>(destination.size(), there - offset);
    std::memcpy(destination.data(), file_->bytes.data() + offset, count);
    if (fate_->mutated(Mutation::kZerosRead) && offset + count == there && count > 64) {
      std::memset(destination.data() + count - 64, 0, 64);
    }
    return count;
  }
  Result<std::uint64_t> bytes() const override {
    if (const Turn turn = fate_->next(Sort::kReads, "measure", path_); turn != Turn::kWorks) return refusal(turn);
    return std::uint64_t{shown_bytes()};
  }

 private:
  std::size_t shown_bytes() const {
    const bool drops = fate_->mutated(Mutation::kLastRecordDropped) && path_.ends_with(".tw");
    return file_->bytes.size() - (drops ? std::min<std::size_t>(64, file_->bytes.size()) : 0);
  }
  Status refusal(Turn turn) const {
    const bool fails = turn == Turn::kFails || turn == Turn::kFailsAfter;
    return fails ? fate_->failure("read", path_) : fate_->death();
  }

  const SimFilePointer file_;
  const std::string path_;
  const std::shared_ptr<ProcessFate> fate_;
};

class SimLock final : public storage::Lock {
 public:
  SimLock(std::shared_ptr<std::set<std::string>> locks, std::string path)
      : locks_(std::move(locks)), path_(std::move(path)) {}
  ~SimLock() override { locks_->erase(path_); }

 private:
  const std::shared_ptr<std::set<std::string>> locks_;
  const std::string path_;
};

FileInfo info_of_file(const SimFile& file) {
  return {.bytes = file.bytes.size(), .changed_unix_ns = file.changed_unix_ns, .identity = file.identity};
}

}  // namespace

Status ProcessFate::failure(std::string_view call, const std::string& path) const {
  return Status(code_, fmt::format("cannot {} {}: a fault that was put in", call, path));
}

Turn ProcessFate::next(Sort sort, std::string_view call, const std::string& path) {
  if (is_dead_) return Turn::kDead;
  const auto death = death_at_this_call(call, path);
  ++calls_;
  if (death) return *death;
  const bool fails = fails_now(sort);
  if (!fails) return Turn::kWorks;
  const FaultSort fault = sort == Sort::kReads    ? FaultSort::kReadError
                          : sort == Sort::kWrites ? FaultSort::kWriteError
                                                  : FaultSort::kSyncError;
  const bool is_after = sort == Sort::kWrites && dice_.one_in(4);
  if (plan_.leaves_out(fault)) return Turn::kWorks;
  log_.fault(fault, "{}: {} of {}{}", name_, call, path, is_after ? ", which was done all the same" : "");
  return is_after ? Turn::kFailsAfter : Turn::kFails;
}

std::optional<Turn> ProcessFate::death_at_this_call(std::string_view call, const std::string& path) {
  if (calls_ != die_at_) return std::nullopt;
  constexpr Turn kDeaths[] = {Turn::kDiesBefore, Turn::kDiesWithin, Turn::kDiesAfter};
  constexpr std::string_view kWhen[] = {"before", "within", "after"};
  const std::uint64_t which = dice_.roll(3);
  if (plan_.leaves_out(FaultSort::kKill)) return std::nullopt;
  is_dead_ = true;
  log_.fault(FaultSort::kKill, "{} dies {} its call to {} {}", name_, kWhen[which], call, path);
  return kDeaths[which];
}

bool ProcessFate::fails_now(Sort sort) {
  switch (sort) {
    case Sort::kReads: return reads_++ == fail_read_at_;
    case Sort::kWrites: return writes_++ == fail_write_at_;
    case Sort::kSyncs: return std::exchange(fails_sync_, false);
  }
  return false;
}

Result<std::unique_ptr<storage::WritableFile>> SimProcess::create(const std::string& path) {
  using Created = Result<std::unique_ptr<storage::WritableFile>>;
  return perform<Created>(Sort::kWrites, "create", path, [&]() -> Created {
    TRAINWARDEN_ASSIGN_OR_RETURN(SimFilePointer file, disk_.insert(path, ""));
    return std::unique_ptr<storage::WritableFile>(
        std::make_unique<SimWritableFile>(disk_, std::move(file), path, fate_, last_file_));
  });
}

Result<std::unique_ptr<storage::ReadableFile>> SimProcess::open(const std::string& path) const {
  using Opened = Result<std::unique_ptr<storage::ReadableFile>>;
  return perform<Opened>(Sort::kReads, "open", path, [&]() -> Opened {
    TRAINWARDEN_ASSIGN_OR_RETURN(SimFilePointer file, disk_.find(path));
    return std::unique_ptr<storage::ReadableFile>(std::make_unique<SimReadableFile>(std::move(file), path, fate_));
  });
}

// As LocalStorage does: bytes and name are on the medium when it is done.
Status SimProcess::put_if_absent(const std::string& path, ByteSpan content) {
  return perform<Status>(Sort::kWrites, "put", path, [&]() -> Status {
    TRAINWARDEN_ASSIGN_OR_RETURN(const SimFilePointer file, disk_.insert(path, std::string(as_text(content))));
    if (fate_->mutated(Mutation::kNameNotKept)) return {};
    disk_.sync_bytes(*file);
    disk_.sync_name(path);
    return {};
  });
}

Status SimProcess::replace(const std::string& path, ByteSpan content) {
  return perform<Status>(Sort::kWrites, "replace", path,
                         [&]() -> Status { return disk_.replace(path, std::string(as_text(content))); });
}

Result<std::string> SimProcess::read(const std::string& path, std::uint64_t limit_bytes) const {
  return perform<Result<std::string>>(Sort::kReads, "read", path, [&]() -> Result<std::string> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const SimFilePointer file, disk_.find(path));
    if (file->bytes.size() > limit_bytes) return Status(Code::kOutOfRange, path + " is too large");
    const bool tells = uses_system_time_ && path.ends_with(".lease");
    return tells ? in_system_time(file->bytes, clock_) : file->bytes;
  });
}

std::string in_system_time(std::string text, const SimClock& clock) {
  auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return text;
  const std::int64_t offset = system_clock().unix_ns() - clock.unix_ns();
  for (const char* field : {"renewed_unix_ns", "next_unix_ns"}) {
    if (json[field].get<std::int64_t>() != 0) json[field] = json[field].get<std::int64_t>() + offset;
  }
  return json.dump();
}

Status SimProcess::create_folder(const std::string& path) {
  return perform<Status>(Sort::kWrites, "create folder", path, [&] { return disk_.create_folder(path); });
}

std::vector<std::string> names_in(const std::string& folder, const SimDisk::Names& files,
                                  const std::set<std::string>& folders) {
  const std::string beginning = folder.empty() ? "" : folder + "/";
  std::set<std::string> names;
  const auto take = [&](const std::string& path) {
    if (path.size() <= beginning.size() || !path.starts_with(beginning)) return;
    const std::string rest = path.substr(beginning.size());
    if (rest.find('/') == std::string::npos) names.insert(rest);
  };
  for (const auto& [path, file] : files) take(path);
  for (const std::string& path : folders) take(path);
  return {names.begin(), names.end()};
}

Result<std::vector<std::string>> SimProcess::list(const std::string& path) const {
  using Names = Result<std::vector<std::string>>;
  return perform<Names>(Sort::kReads, "list", path, [&]() -> Names {
    if (!disk_.has_folder(path)) return Status(Code::kNotFound, "there is no folder " + path);
    std::vector<std::string> names = names_in(path, disk_.files(), disk_.folders());
    if (!fate_->mutated(Mutation::kOldListing) || names.empty()) return names;
    return first_listings_.try_emplace(path, std::move(names)).first->second;
  });
}

Result<std::vector<storage::Entry>> SimProcess::entries(const std::string& path) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, list(path));
  std::vector<storage::Entry> entries;
  for (const std::string& name : names) {
    const auto about = info(path.empty() ? name : path + "/" + name);
    if (about.ok()) entries.push_back({name, *about});
  }
  return entries;
}

Result<FileInfo> SimProcess::info(const std::string& path) const {
  return perform<Result<FileInfo>>(Sort::kReads, "look at", path, [&]() -> Result<FileInfo> {
    if (disk_.has_folder(path)) return FileInfo{.kind = FileInfo::Kind::kFolder};
    TRAINWARDEN_ASSIGN_OR_RETURN(const SimFilePointer file, disk_.find(path));
    return info_of_file(*file);
  });
}

Result<std::unique_ptr<storage::Lock>> SimProcess::lock(const std::string& path) {
  using Locked = Result<std::unique_ptr<storage::Lock>>;
  return perform<Locked>(Sort::kWrites, "lock", path, [&]() -> Locked {
    if (const auto file = disk_.insert(path, ""); !file.ok() && file.status().code() != Code::kAlreadyExists) {
      return file.status();
    }
    if (!disk_.locks()->insert(path).second && !fate_->mutated(Mutation::kTwoLocks)) {
      return Status(Code::kAlreadyExists, path + " is locked by another process");
    }
    return std::unique_ptr<storage::Lock>(std::make_unique<SimLock>(disk_.locks(), path));
  });
}

}  // namespace trainwarden::torture
