#include "share.h"

#include <algorithm>
#include <cstring>

#include "core/base/boot_id.h"
#include "store/storage/path_rules.h"

namespace trainwarden::torture {
namespace {

using Sort = ProcessFate::Sort;
constexpr std::size_t kPageBytes = 512;

Status not_there(const std::string& path) {
  return Status(Code::kNotFound, "there is no share:/" + path);
}

class ShareWritableFile final : public storage::WritableFile {
 public:
  ShareWritableFile(std::shared_ptr<WriteBack> bytes, std::string path, std::shared_ptr<ProcessFate> fate,
                    std::shared_ptr<std::string> last_file)
      : bytes_(std::move(bytes)), path_(std::move(path)), fate_(std::move(fate)), last_file_(std::move(last_file)) {}
  ~ShareWritableFile() override { bytes_->send_all(); }  // as the system closes it, also of a process that was killed

  Status append(std::span<const ByteSpan> parts) override {
    if (is_closed_) return Status(Code::kFailedPrecondition, path_ + " is closed");
    std::string bytes;
    for (const ByteSpan part : parts) bytes += as_text(part);
    *last_file_ = path_;
    const Turn turn = fate_->next(Sort::kWrites, "append", path_);
    if (turn == Turn::kWorks || turn == Turn::kDiesAfter || turn == Turn::kFailsAfter) {
      bytes_->append(bytes);
    } else if (turn == Turn::kDiesWithin && !fate_->plan().leaves_out(FaultSort::kTornWrite)) {
      bytes_->append(std::string_view(bytes).substr(0, fate_->dice().roll(bytes.size())));
      fate_->log().fault(FaultSort::kTornWrite, "{} of {}", bytes.size(), path_);
    }
    is_closed_ = turn != Turn::kWorks;
    if (turn == Turn::kFails || turn == Turn::kFailsAfter) return fate_->failure("append to", path_);
    return turn == Turn::kWorks ? Status() : fate_->death();
  }
  Status sync() override {
    return fate_->perform<Status>(Sort::kSyncs, "sync", path_, [&] {
      bytes_->send_all();
      fate_->note_synced(path_);
      return Status();
    });
  }
  Status close() override {
    bytes_->send_all();
    is_closed_ = true;
    return {};
  }
  std::uint64_t bytes() const override { return bytes_->bytes(); }

 private:
  const std::shared_ptr<WriteBack> bytes_;
  const std::string path_;
  const std::shared_ptr<ProcessFate> fate_;
  const std::shared_ptr<std::string> last_file_;
  bool is_closed_ = false;
};

// Its length is what it was when it was opened, or when the machine last asked.
class ShareReadableFile final : public storage::ReadableFile {
 public:
  ShareReadableFile(ShareMachine& machine, ShareFilePointer file, std::string path, std::shared_ptr<ProcessFate> fate)
      : machine_(machine), file_(std::move(file)), path_(std::move(path)), fate_(std::move(fate)) {
    look();
  }

  Result<std::size_t> read_at(std::uint64_t offset, MutableByteSpan destination) const override {
    return fate_->perform<Result<std::size_t>>(Sort::kReads, "read", path_, [&]() -> Result<std::size_t> {
      const std::string& bytes = machine_.bytes_of(*file_);
      const std::size_t there = std::min(seen_bytes_, bytes.size());
      if (offset >= there) return std::size_t{0};
      const std::size_t count = std::min<std::size_t>(destination.size(), there - offset);
      std::memcpy(destination.data(), bytes.data() + offset, count);
      return count;
    });
  }
  Result<std::uint64_t> bytes() const override {
    return fate_->perform<Result<std::uint64_t>>(Sort::kReads, "measure", path_, [&]() -> Result<std::uint64_t> {
      const bool is_old = machine_.clock().steady_ns() - seen_ns_ >= machine_.server().lag_ns;
      if (!machine_.lags() || is_old || machine_.dice().one_in(3)) {
        look();
      } else if (seen_bytes_ != machine_.bytes_of(*file_).size()) {
        machine_.log().fault(FaultSort::kLag, "machine {} sees {} of {} bytes of {}", machine_.number(), seen_bytes_,
                             machine_.bytes_of(*file_).size(), path_);
      }
      return std::uint64_t{seen_bytes_};
    });
  }

 private:
  void look() const {
    seen_bytes_ = machine_.bytes_of(*file_).size();
    seen_ns_ = machine_.clock().steady_ns();
  }

  ShareMachine& machine_;
  const ShareFilePointer file_;
  const std::string path_;
  const std::shared_ptr<ProcessFate> fate_;
  mutable std::size_t seen_bytes_ = 0;
  mutable std::int64_t seen_ns_ = 0;
};

class ShareLock final : public storage::Lock {
 public:
  ShareLock(ShareServer& server, std::string key) : server_(server), key_(std::move(key)) {}
  ~ShareLock() override { server_.held.erase(key_); }

 private:
  ShareServer& server_;
  const std::string key_;
};

std::string key_of_lock(const ShareServer& server, const std::string& path, int machine) {
  return server.locks == LockMode::kOfOneMachine ? fmt::format("{} of {}", path, machine) : path;
}

}  // namespace

const std::string& ShareMachine::bytes_of(const ShareFile& file) const {
  return file.written != nullptr && file.machine == number_ ? *file.written : file.bytes;
}

Result<ShareFilePointer> ShareMachine::look_up(const std::string& path) {
  const auto found = server_.files.find(path);
  const ShareFilePointer now = found == server_.files.end() ? nullptr : found->second;
  const auto seen = names_.find(path);
  if (seen != names_.end() && !is_old(seen->second.seen_ns) && seen->second.file != now && lags()) {
    return look_up_old(path, seen->second, now);
  }
  names_[path] = {now, clock_.steady_ns()};
  if (now == nullptr) return not_there(path);
  return now;
}

// What it has seen of this name is not what is there.
Result<ShareFilePointer> ShareMachine::look_up_old(const std::string& path, const SeenName& seen,
                                                   const ShareFilePointer& now) {
  if (seen.file == nullptr) {
    log_.fault(FaultSort::kLag, "machine {} does not see {} yet", number_, path);
    return not_there(path);
  }
  const ShareFilePointer old = seen.file;
  const std::uint64_t what = dice_.roll(3);
  if (what == 0) {
    log_.fault(FaultSort::kLag, "machine {} sees what {} was", number_, path);
    server_.had_old_promise = server_.had_old_promise || path.ends_with(".lease");
    return old;
  }
  names_.erase(path);
  if (what == 1 || plan_.leaves_out(FaultSort::kStaleHandle)) return now == nullptr ? not_there(path) : Result(now);
  log_.fault(FaultSort::kStaleHandle, "machine {} has an old handle of {}", number_, path);
  return Status(Code::kUnavailable, "cannot open share:/" + path + ": stale file handle");
}

std::vector<std::string> ShareMachine::list(const std::string& folder) {
  const auto seen = lists_.find(folder);
  SimDisk::Names names;
  for (const auto& [path, file] : server_.files) names[path] = nullptr;
  std::vector<std::string> now = names_in(folder, names, server_.folders);
  if (seen != lists_.end() && !is_old(seen->second.seen_ns) && lags() && !dice_.one_in(4)) {
    if (seen->second.names != now) log_.fault(FaultSort::kLag, "machine {} lists what {} was", number_, folder);
    return seen->second.names;
  }
  lists_[folder] = {now, clock_.steady_ns()};
  if (now.size() > 2 && lags() && dice_.one_in(8)) {  // a list that was made while names came
    const std::string left_out = now[dice_.roll(now.size() - 1)];
    log_.fault(FaultSort::kLag, "machine {} lists {} without {}", number_, folder, left_out);
    std::erase(now, left_out);
    lists_[folder].names = now;
  }
  return now;
}

void ShareMachine::forget(const std::string& path) {
  names_.erase(path);
  lists_.erase(std::string(storage::parent_path(path)));
}

WriteBack::WriteBack(ShareMachine& machine, ShareFilePointer file, std::string path)
    : machine_(machine), file_(std::move(file)), path_(std::move(path)) {
  file_->written = &bytes_;
  file_->machine = machine_.number();
}

WriteBack::~WriteBack() {
  file_->written = nullptr;
}

void WriteBack::append(std::string_view bytes) {
  bytes_ += bytes;
  if (!machine_.lags()) send_all();
}

void WriteBack::send_some() {
  if (is_lost_ || sent_ == bytes_.size()) return;
  Dice& dice = machine_.dice();
  const std::size_t before = file_->bytes.size();
  const std::size_t length = std::max<std::size_t>(before, sent_ + dice.roll(bytes_.size() - sent_ + 1));
  const std::size_t hole_end = length / kPageBytes * kPageBytes;
  const bool is_in_order = dice.one_in(2) || hole_end <= before;
  file_->changed_unix_ns = machine_.file_time_ns();
  if (is_in_order) {
    file_->bytes = bytes_.substr(0, length);
    sent_ = length;
    return;
  }
  file_->bytes.resize(hole_end, '\0');
  file_->bytes += bytes_.substr(hole_end, length - hole_end);
  machine_.log().fault(FaultSort::kLag, "{}: bytes {} to {} come later than those behind", path_, before, hole_end);
}

void WriteBack::send_all() {
  if (is_lost_) return;
  file_->bytes = bytes_;
  file_->changed_unix_ns = machine_.file_time_ns();
  sent_ = bytes_.size();
}

void WriteBack::lose() {
  if (sent_ != bytes_.size()) {
    machine_.log().fault(FaultSort::kLostBytes, "{} bytes of {}", bytes_.size() - sent_, path_);
  }
  is_lost_ = true;
  file_->written = nullptr;
}

ShareFilePointer ShareProcess::make_file(std::string bytes) const {
  auto file = std::make_shared<ShareFile>();
  file->bytes = std::move(bytes);
  file->identity = ++machine_.server().created;
  file->changed_unix_ns = machine_.file_time_ns();
  return file;
}

Result<ShareFilePointer> ShareProcess::insert(const std::string& path, std::string bytes) {
  ShareServer& server = machine_.server();
  machine_.forget(path);
  if (!server.folders.contains(std::string(storage::parent_path(path)))) return not_there(path);
  if (server.files.contains(path)) return Status(Code::kAlreadyExists, "share:/" + path + " is there");
  return server.files[path] = make_file(std::move(bytes));
}

void ShareProcess::send_some() {
  for (const auto& weak : written_) {
    if (const auto bytes = weak.lock()) bytes->send_some();
  }
}

void ShareProcess::lose_with_machine() {
  for (const auto& weak : written_) {
    if (const auto bytes = weak.lock()) bytes->lose();
  }
}

Result<std::unique_ptr<storage::WritableFile>> ShareProcess::create(const std::string& path) {
  using Created = Result<std::unique_ptr<storage::WritableFile>>;
  return fate_->perform<Created>(Sort::kWrites, "create", path, [&]() -> Created {
    TRAINWARDEN_ASSIGN_OR_RETURN(ShareFilePointer file, insert(path, ""));
    const auto bytes = std::make_shared<WriteBack>(machine_, std::move(file), path);
    written_.push_back(bytes);
    return std::unique_ptr<storage::WritableFile>(std::make_unique<ShareWritableFile>(bytes, path, fate_, last_file_));
  });
}

Result<std::unique_ptr<storage::ReadableFile>> ShareProcess::open(const std::string& path) const {
  using Opened = Result<std::unique_ptr<storage::ReadableFile>>;
  return fate_->perform<Opened>(Sort::kReads, "open", path, [&]() -> Opened {
    TRAINWARDEN_ASSIGN_OR_RETURN(ShareFilePointer file, machine_.look_up(path));
    return std::unique_ptr<storage::ReadableFile>(
        std::make_unique<ShareReadableFile>(machine_, std::move(file), path, fate_));
  });
}

Status ShareProcess::put_if_absent(const std::string& path, ByteSpan content) {
  return fate_->perform<Status>(Sort::kWrites, "put", path, [&]() -> Status {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ShareFilePointer file, insert(path, std::string(as_text(content))));
    if (!machine_.server().puts_whole && machine_.lags())
      file->looks_until_whole = static_cast<int>(machine_.dice().roll(4));
    return {};
  });
}

// A rename: others may have the old file open, or know its name.
Status ShareProcess::replace(const std::string& path, ByteSpan content) {
  return fate_->perform<Status>(Sort::kWrites, "replace", path, [&]() -> Status {
    machine_.forget(path);
    std::string text(as_text(content));
    const std::size_t boot = path.ends_with(".lease") ? text.find(boot_id()) : std::string::npos;
    if (boot != std::string::npos) text.replace(boot, boot_id().size(), fmt::format("machine {}", machine_.number()));
    if (boot != std::string::npos && fate_->mutated(Mutation::kBlindBeat)) own_promise_ = text;
    machine_.server().files[path] = make_file(std::move(text));
    return {};
  });
}

// Each machine has a boot id of its own; here they all run in one.
std::string ShareProcess::promise_seen(std::string text) const {
  const std::string own = fmt::format("machine {}", machine_.number());
  const std::size_t boot = text.find(own);
  if (boot != std::string::npos) text.replace(boot, own.size(), boot_id());
  return reads_ ? in_system_time(std::move(text), machine_.clock()) : text;
}

Result<std::string> ShareProcess::read(const std::string& path, std::uint64_t limit_bytes) const {
  return fate_->perform<Result<std::string>>(Sort::kReads, "read", path, [&]() -> Result<std::string> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ShareFilePointer file, machine_.look_up(path));
    const std::string& bytes = machine_.bytes_of(*file);
    if (bytes.size() > limit_bytes) return Status(Code::kOutOfRange, path + " is too large");
    if (file->looks_until_whole > 0) {
      --file->looks_until_whole;
      machine_.log().fault(FaultSort::kLag, "machine {} sees {} in parts", machine_.number(), path);
      dropped_.insert(path.substr(path.rfind('/') + 1));
      return bytes.substr(0, machine_.dice().roll(bytes.size()));
    }
    if (!path.ends_with(".lease")) return bytes;
    return promise_seen(own_promise_.empty() ? bytes : own_promise_);
  });
}

Status ShareProcess::create_folder(const std::string& path) {
  return fate_->perform<Status>(Sort::kWrites, "create folder", path, [&] {
    for (std::string_view folder = path; !folder.empty(); folder = storage::parent_path(folder)) {
      machine_.server().folders.emplace(folder);
    }
    return Status();
  });
}

Result<std::vector<std::string>> ShareProcess::list(const std::string& path) const {
  using Names = Result<std::vector<std::string>>;
  return fate_->perform<Names>(Sort::kReads, "list", path, [&]() -> Names {
    if (!machine_.server().folders.contains(path)) return not_there(path);
    std::vector<std::string> names = machine_.list(path);
    if (fate_->mutated(Mutation::kRequestDropped)) {
      std::erase_if(names, [&](const std::string& name) { return dropped_.contains(name); });
    }
    return names;
  });
}

Result<std::vector<storage::Entry>> ShareProcess::entries(const std::string& path) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, list(path));
  std::vector<storage::Entry> entries;
  for (const std::string& name : names) {
    const auto about = info(path.empty() ? name : path + "/" + name);
    if (about.ok()) entries.push_back({name, *about});
  }
  return entries;
}

Result<storage::FileInfo> ShareProcess::info(const std::string& path) const {
  using Info = Result<storage::FileInfo>;
  return fate_->perform<Info>(Sort::kReads, "look at", path, [&]() -> Info {
    if (machine_.server().folders.contains(path)) return storage::FileInfo{.kind = storage::FileInfo::Kind::kFolder};
    TRAINWARDEN_ASSIGN_OR_RETURN(const ShareFilePointer file, machine_.look_up(path));
    const bool has_time = !fate_->mutated(Mutation::kPromiseAlone);
    return storage::FileInfo{.bytes = machine_.bytes_of(*file).size(),
                             .changed_unix_ns = has_time ? file->changed_unix_ns : 0,
                             .identity = file->identity};
  });
}

Result<std::unique_ptr<storage::Lock>> ShareProcess::lock(const std::string& path) {
  using Locked = Result<std::unique_ptr<storage::Lock>>;
  return fate_->perform<Locked>(Sort::kWrites, "lock", path, [&]() -> Locked {
    ShareServer& server = machine_.server();
    if (server.locks == LockMode::kMissing) return Status(Code::kUnimplemented, "its file system has no locks");
    const std::string key = key_of_lock(server, path, machine_.number());
    if (!server.held.emplace(key, machine_.number()).second) {
      return Status(Code::kAlreadyExists, path + " is locked by another process");
    }
    return std::unique_ptr<storage::Lock>(std::make_unique<ShareLock>(server, key));
  });
}

bool ShareProcess::locked(const std::string& path) const {
  const ShareServer& server = machine_.server();
  return server.held.contains(key_of_lock(server, path, machine_.number()));
}

}  // namespace trainwarden::torture
