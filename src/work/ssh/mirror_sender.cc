#include "work/ssh/mirror_sender.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace trainwarden::ssh {

MirrorSender::MirrorSender(const jobs::JobRecord& job, Send send)
    : job_(job), folders_{job.place(), storage::Location(job.order().run)}, send_(std::move(send)) {}

void MirrorSender::note_known(const MirrorFrame& frame) {
  if (way_of(frame.path) != MirrorWay::kNever) sent_[frame.path] = {frame.offset, frame.time_unix_ns};
}

Result<bool> MirrorSender::send_new() {
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, job_.current());
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<MirroredFile> files, list_mirrored(folders_));
  const auto others = std::stable_partition(
      files.begin(), files.end(), [](const MirroredFile& file) { return way_of(file.path) != MirrorWay::kOnce; });
  for (auto file = files.begin(); file != others; ++file) TRAINWARDEN_RETURN_IF_ERROR(send_if_changed(*file));
  for (auto file = others; file != files.end(); ++file) TRAINWARDEN_RETURN_IF_ERROR(send_if_changed(*file));
  return jobs::is_terminal(now.status);
}

Status MirrorSender::send_if_changed(const MirroredFile& file) {
  const auto sent = sent_.find(file.path);
  if (sent == sent_.end()) return send_from(file, 0);
  const bool grows = way_of(file.path) == MirrorWay::kAppended && file.bytes >= sent->second.bytes;
  if (grows && file.bytes == sent->second.bytes) return Status();
  if (grows) return send_from(file, sent->second.bytes);
  if (file.bytes == sent->second.bytes && file.time_unix_ns == sent->second.time_unix_ns) return Status();
  return send_from(file, 0);
}

// Up to the size that it had when it was listed.
Status MirrorSender::send_from(const MirroredFile& file, std::uint64_t offset) {
  const MirroredPlace place = place_of(folders_, file.path);
  const auto opened = place.folder->storage().open(place.path);
  if (opened.status().code() == Code::kNotFound) return Status();  // gone meanwhile
  if (!opened.ok()) return opened.status();
  MirrorFrame frame;
  frame.kind = MirrorFrame::Kind::kFile;
  frame.path = file.path;
  frame.time_unix_ns = file.time_unix_ns;
  for (frame.offset = offset; !frame.last;) {
    frame.bytes.resize(std::min<std::uint64_t>(kMaxFrameBytes, file.bytes - frame.offset));
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t read,
                                 (*opened)->read_at(frame.offset, std::as_writable_bytes(std::span(frame.bytes))));
    const bool is_cut = read < frame.bytes.size();  // it is shorter now: the next look sends it anew
    frame.bytes.resize(read);
    frame.last = is_cut || frame.offset + read == file.bytes;
    TRAINWARDEN_RETURN_IF_ERROR(send_(frame));
    frame.offset += read;
  }
  sent_[file.path] = {frame.offset, frame.time_unix_ns};
  return Status();
}

}  // namespace trainwarden::ssh
