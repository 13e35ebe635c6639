#include "work/ssh/mirror_receiver.h"

#include <cerrno>
#include <cstdio>
#include <ctime>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "store/storage/beneath.h"
#include "store/storage/path_rules.h"
#include "store/storage/system_error.h"

namespace trainwarden::ssh {
namespace {

constexpr mode_t kFileMode = 0666;  // as the user's umask has it
constexpr std::int64_t kNsOfASecond = 1'000'000'000;

storage::Beneath folder_of(const MirroredPlace& place) {
  return storage::Beneath(place.folder->absolute().path());
}

Status write_all(const FileDescriptor& file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return storage::system_error(errno, "write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return Status();
}

Status does_not_fit(const MirrorFrame& frame, std::uint64_t here) {
  return {Code::kDataLoss,
          fmt::format("{}: the host sends byte {}, {} are here", printable(frame.path), frame.offset, here)};
}

void set_time(const FileDescriptor& file, std::int64_t unix_ns) {
  const timespec time{static_cast<std::time_t>(unix_ns / kNsOfASecond), static_cast<long>(unix_ns % kNsOfASecond)};
  const timespec times[2] = {time, time};
  ::futimens(file.get(), times);  // without it the file is sent once more, no harm
}

std::string name_while_it_comes(const std::string& path) {
  return path + ".mirror.tmp";
}

}  // namespace

MirrorReceiver::MirrorReceiver(const jobs::JobRecord& job)
    : folders_{job.place(), storage::Location(job.order().run)} {}

Result<std::string> MirrorReceiver::known() const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<MirroredFile> files, list_mirrored(folders_));
  std::string text;
  for (const MirroredFile& file : files) {
    text += encode_frame({MirrorFrame::Kind::kFile, file.path, file.bytes, file.time_unix_ns, true, ""});
  }
  return text + encode_frame({MirrorFrame::Kind::kEnd, "", 0, 0, false, ""});
}

Status MirrorReceiver::receive(const MirrorFrame& frame) {
  const MirrorWay way = way_of(frame.path);
  if (way == MirrorWay::kNever) {
    return {Code::kPermissionDenied, fmt::format("\"{}\" is no file of a job", printable(frame.path))};
  }
  const MirroredPlace place = place_of(folders_, frame.path);
  TRAINWARDEN_RETURN_IF_ERROR(place.folder->storage().create_folder(std::string(storage::parent_path(place.path))));
  if (way == MirrorWay::kOnce) return put(frame);
  return way == MirrorWay::kAppended ? append(frame) : replace(frame);
}

// Also of a log that has begun anew: who wrote it had its reason.
Status MirrorReceiver::append(const MirrorFrame& frame) const {
  const MirroredPlace place = place_of(folders_, frame.path);
  const storage::Beneath folder = folder_of(place);
  const std::string path = folder.describe(place.path);
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor file,
                               folder.open(place.path, O_WRONLY | O_CREAT | O_APPEND, "write", kFileMode));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return storage::system_error(errno, "look at", path);
  if (frame.offset == 0 && info.st_size > 0 && ::ftruncate(file.get(), 0) != 0) {
    return storage::system_error(errno, "empty", path);
  }
  const auto here = frame.offset == 0 ? 0 : static_cast<std::uint64_t>(info.st_size);
  if (here != frame.offset) return does_not_fit(frame, here);
  return write_all(file, frame.bytes, path);
}

Status MirrorReceiver::put(const MirrorFrame& frame) const {
  const MirroredPlace place = place_of(folders_, frame.path);
  if (frame.offset != 0 || !frame.last) return does_not_fit(frame, 0);
  const Status written = place.folder->storage().put_if_absent(place.path, as_bytes(frame.bytes));
  if (written.code() != Code::kAlreadyExists) return written;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string here, place.folder->storage().read(place.path));
  if (here == frame.bytes) return Status();
  return {Code::kDataLoss, fmt::format("{} is here otherwise than on the host", printable(frame.path))};
}

Status MirrorReceiver::replace(const MirrorFrame& frame) {
  const MirroredPlace place = place_of(folders_, frame.path);
  const storage::Beneath folder = folder_of(place);
  const std::string temporary = name_while_it_comes(place.path);
  if (frame.offset == 0) {
    TRAINWARDEN_ASSIGN_OR_RETURN(coming_, folder.open(temporary, O_WRONLY | O_CREAT | O_TRUNC, "write", kFileMode));
    coming_path_ = frame.path;
    coming_bytes_ = 0;
  }
  if (!coming_.is_open() || coming_path_ != frame.path || coming_bytes_ != frame.offset) {
    return does_not_fit(frame, coming_bytes_);
  }
  TRAINWARDEN_RETURN_IF_ERROR(write_all(coming_, frame.bytes, folder.describe(temporary)));
  coming_bytes_ += frame.bytes.size();
  if (!frame.last) return Status();
  set_time(coming_, frame.time_unix_ns);
  coming_ = FileDescriptor();
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor parent, folder.open(std::string(storage::parent_path(place.path)),
                                                                        O_RDONLY | O_DIRECTORY, "replace a file in"));
  const std::string name = place.path.substr(place.path.rfind('/') + 1);
  if (::renameat(parent.get(), name_while_it_comes(name).c_str(), parent.get(), name.c_str()) == 0) return Status();
  return storage::system_error(errno, "replace", folder.describe(place.path));
}

}  // namespace trainwarden::ssh
