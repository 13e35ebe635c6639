#include "store/s3/bucket_mirror.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "core/exchange/digest.h"
#include "store/storage/path_rules.h"

namespace trainwarden::storage {
namespace {

constexpr std::uint64_t kMaxPieceBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kMaxComparedBytes = std::uint64_t{64} << 20;  // whose digest is computed
constexpr int kMaxMirrorPages = 10'000;
constexpr std::uint64_t kMaxRequestBytes = 64 * 1024, kMaxLeaseBytes = 64 * 1024;
constexpr int kMaxDepth = 16;
constexpr std::size_t kMaxSenders = 4;  // files at once; the client bounds what of them is in memory

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool stays_here(std::string_view name) {
  return name.ends_with(".lock") || name.ends_with(".tmp");
}

// Files to which their writers append.
bool is_segment(std::string_view path) {
  return path.ends_with(".tw") && name_of(path).starts_with("seg-");
}

bool is_lease(std::string_view path) {
  return path.ends_with(".lease");
}

// Its holder has said that nothing more is to come (store/storage/lease.h).
bool has_ended(const std::string& lease) {
  const nlohmann::json json = nlohmann::json::parse(lease, nullptr, false);
  const auto next = json.is_object() ? json.find("next_unix_ns") : json.end();
  return next != json.end() && next->is_number_integer() && next->get<std::int64_t>() == 0;
}

// "stop-20261127T184500-5f3a.json": docs/format/run_folder.md has all of them.
bool is_request(std::string_view name) {
  constexpr std::string_view kKinds[] = {"stop-",    "capture-", "blackbox-", "checkpoint-",
                                         "profile-", "examine-", "delivery-"};
  const bool is_known =
      std::any_of(std::begin(kKinds), std::end(kKinds), [&](std::string_view kind) { return name.starts_with(kind); });
  return is_known && name.ends_with(".json") && name.find('/') == std::string_view::npos && check_file_path(name).ok();
}

// run.json says what everything else belongs to.
bool comes_before(std::string_view a, std::string_view b) {
  const bool a_first = a == "run.json", b_first = b == "run.json";
  return a_first != b_first ? a_first : a < b;
}

bool is_away(const Status& status) {
  return status.code() == Code::kUnavailable || status.code() == Code::kDeadlineExceeded ||
         status.code() == Code::kCancelled || status.code() == Code::kPermissionDenied;
}

Status read_all(const ReadableFile& file, std::uint64_t offset, MutableByteSpan destination) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t count, file.read_at(offset, destination));
  if (count == destination.size()) return {};
  return Status(Code::kDataLoss, "the file became shorter while it was read");
}

}  // namespace

BucketMirror::BucketMirror(std::shared_ptr<Storage> folder, std::shared_ptr<S3Client> client, std::string prefix)
    : folder_(std::move(folder)), client_(std::move(client)), prefix_(std::move(prefix)) {}

Status BucketMirror::begin() {
  const std::string beginning = key_of("");
  std::string token;
  for (int number = 0; number < kMaxMirrorPages; ++number) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ObjectPage page, client_->list(beginning, "", "", token));
    for (const ListedObject& object : page.objects) {
      if (!object.key.starts_with(beginning)) continue;
      const std::string path = object.key.substr(beginning.size());
      if (const auto piece = parse_piece_name(path)) {
        There& there = there_[std::string(piece->file)];
        there.may_be_more = true;
        add_pieces(there.pieces, {object});
      } else {
        There& there = there_[path];
        there.bytes = object.info.bytes;
        there.etag = object.info.etag;
      }
    }
    if (page.next.empty()) return {};
    token = page.next;
  }
  return Status(Code::kResourceExhausted, fmt::format("{} has too many objects", client_->address_of(prefix_)));
}

Result<std::uint64_t> BucketMirror::take_requests() {
  const std::string beginning = key_of("control/");
  TRAINWARDEN_ASSIGN_OR_RETURN(const ObjectPage page, client_->list(beginning, "", "", ""));
  std::uint64_t taken = 0;
  for (const ListedObject& object : page.objects) {
    if (!object.key.starts_with(beginning)) continue;
    const std::string name = object.key.substr(beginning.size());
    const std::string path = "control/" + name;
    if (!is_request(name) || object.info.bytes > kMaxRequestBytes || folder_->exists(path)) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string content, client_->get_whole(object.key, kMaxRequestBytes));
    TRAINWARDEN_RETURN_IF_ERROR(folder_->create_folder("control"));
    TRAINWARDEN_RETURN_IF_ERROR(folder_->put_if_absent(path, as_bytes(content)));
    There& there = there_[path];  // so that it is not sent back
    there.bytes = object.info.bytes;
    there.etag = object.info.etag;
    ++taken;
  }
  return taken;
}

MirrorRound BucketMirror::look(bool is_last) {
  MirrorRound round;
  std::vector<Local> alive, ended, files;
  round.problem = find_leases(alive, ended);
  if (round.problem.ok()) round.problem = find_files("", files);
  std::erase_if(files, [](const Local& file) { return is_lease(file.path); });
  std::sort(files.begin(), files.end(), [](const Local& a, const Local& b) { return comes_before(a.path, b.path); });
  for (std::size_t i = 0; i < files.size(); ++i) {
    // The last segment of a writer is the one that it appends to.
    const bool is_writers_last = i + 1 == files.size() || !is_segment(files[i + 1].path) ||
                                 parent_path(files[i + 1].path) != parent_path(files[i].path);
    files[i].is_growing = is_segment(files[i].path) && is_writers_last && !is_last;
  }
  const bool has_info = !files.empty() && files[0].path == "run.json";
  files.insert(files.begin() + (has_info ? 1 : 0), alive.begin(), alive.end());
  std::erase_if(files, [&](const Local& file) { return is_there(file); });
  std::erase_if(ended, [&](const Local& file) { return is_there(file); });
  has_looked_ = has_looked_ || round.problem.ok();
  send_all(files, round);
  if (round.problem.ok()) {
    send_all(ended, round);
  } else {
    for (const Local& file : ended) round.bytes_behind += file.info.bytes;
    round.files_behind += ended.size();
  }
  return round;
}

// As they are now: what their holders wrote before that is in the files that are looked at later.
Status BucketMirror::find_leases(std::vector<Local>& alive, std::vector<Local>& ended) const {
  std::vector<Local> files;
  TRAINWARDEN_RETURN_IF_ERROR(find_files("", files));
  for (Local& file : files) {
    if (!is_lease(file.path)) continue;
    auto content = folder_->read(file.path, kMaxLeaseBytes);
    if (!content.ok()) continue;  // gone, or none of ours
    std::vector<Local>& found = has_ended(*content) ? ended : alive;
    file.info.bytes = content->size();
    file.content = *std::move(content);
    found.push_back(std::move(file));
  }
  return {};
}

bool BucketMirror::is_there(const Local& file) {
  const auto [found, is_new] = there_.try_emplace(file.path);
  There& there = found->second;
  if (is_new) there.may_be_more = !has_looked_;  // what is made later, nobody has sent before
  if (!there.etag.empty()) return is_same(file, there) && there.pieces.empty();
  return file.is_growing && !there.pieces.empty() && bytes_of(there.pieces) >= file.info.bytes;
}

// The first one alone, since it says what the others belong to; then several at once. The segments of a journal follow
// one another, and none that is behind one which could not be sent: a reader of the copy sees no hole.
void BucketMirror::send_all(const std::vector<Local>& files, MirrorRound& round) {
  std::mutex mutex;
  const auto send_one = [&](std::size_t i, Status& lane_problem) {
    MirrorRound one;
    {
      // A bucket that cannot be reached is not asked again for each file.
      const std::lock_guard guard(mutex);
      one.problem = is_away(round.problem) ? round.problem : lane_problem;
    }
    There& there = there_.find(files[i].path)->second;
    if (one.problem.ok()) one.problem = no_throw([&] { return send(files[i], there, one); });
    const std::uint64_t missing = one.problem.ok() ? 0 : bytes_missing(files[i], there);
    const std::lock_guard guard(mutex);
    round.files += one.files;
    round.bytes += one.bytes;
    round.files_behind += missing > 0 ? 1 : 0;
    round.bytes_behind += missing;
    if (round.problem.ok()) round.problem = one.problem;
    lane_problem = one.problem;
  };
  const std::vector<std::size_t> lanes = lanes_of(files);  // where each begins
  std::atomic<std::size_t> next = 0;
  const auto send_next = [&] {
    const std::size_t lane = next++;
    if (lane >= lanes.size()) return false;
    const std::size_t end = lane + 1 < lanes.size() ? lanes[lane + 1] : files.size();
    Status problem;
    for (std::size_t i = lanes[lane]; i < end; ++i) send_one(i, problem);
    return true;
  };
  if (!send_next()) return;
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(kMaxSenders, lanes.size()); ++i) {
    threads.emplace_back([&] {
      while (send_next()) {
      }
    });
  }
}

std::vector<std::size_t> BucketMirror::lanes_of(const std::vector<Local>& files) {
  std::vector<std::size_t> lanes;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const bool follows = i > 0 && is_segment(files[i].path) && is_segment(files[i - 1].path) &&
                         parent_path(files[i].path) == parent_path(files[i - 1].path);
    if (!follows) lanes.push_back(i);
  }
  return lanes;
}

std::uint64_t BucketMirror::bytes_missing(const Local& file, There& there) const {
  if (is_same(file, there)) return 0;
  const std::uint64_t sent = there.etag.empty() ? bytes_of(there.pieces) : 0;
  return file.info.bytes - std::min(sent, file.info.bytes);
}

Status BucketMirror::find_files(const std::string& folder, std::vector<Local>& files) const {
  if (std::count(folder.begin(), folder.end(), '/') >= kMaxDepth) return {};
  const auto entries = folder_->entries(folder);
  if (!entries.ok()) return entries.status().code() == Code::kNotFound ? Status() : entries.status();
  for (const Entry& entry : *entries) {
    std::string path = folder.empty() ? entry.name : fmt::format("{}/{}", folder, entry.name);
    if (entry.info.kind == FileInfo::Kind::kFolder) {
      TRAINWARDEN_RETURN_IF_ERROR(find_files(path, files));
    } else if (entry.info.kind == FileInfo::Kind::kFile && !stays_here(entry.name)) {
      files.push_back({.path = std::move(path), .info = entry.info});
    }
  }
  return {};
}

Status BucketMirror::send(const Local& file, There& there, MirrorRound& round) const {
  if (there.may_be_more && is_segment(file.path)) TRAINWARDEN_RETURN_IF_ERROR(look_by_name(file, there));
  // What is there as one object stays one, whoever took it for whole.
  if (file.is_growing && there.etag.empty()) return send_growth(file, there, round);
  if (!is_same(file, there)) TRAINWARDEN_RETURN_IF_ERROR(send_whole(file, there, round));
  return remove_pieces(there);
}

// A piece that is sent from where an old list ends would take the place of a longer one, or leave its bytes twice.
Status BucketMirror::look_by_name(const Local& file, There& there) const {
  const std::string key = key_of(file.path);
  if (there.etag.empty()) {
    const auto whole = client_->head(key);
    if (!whole.ok() && whole.status().code() != Code::kNotFound) return whole.status();
    if (whole.ok()) {
      there.bytes = whole->bytes;
      there.etag = whole->etag.empty() ? "there" : whole->etag;
    }
  }
  if (!there.pieces.empty()) there.pieces.pop_back();  // it may have been sent again since, and longer
  for (std::size_t number = there.pieces.size();; ++number) {
    const std::string name = piece_name(key, number);
    const auto piece = client_->head(name);
    if (piece.status().code() == Code::kNotFound) break;
    TRAINWARDEN_RETURN_IF_ERROR(piece.status());
    add_pieces(there.pieces, {{.key = name, .info = *piece}});
  }
  there.may_be_more = false;
  return {};
}

bool BucketMirror::is_same(const Local& file, There& there) const {
  if (there.etag.empty() || there.bytes != file.info.bytes) return false;
  if (there.sent.identity != 0) {
    return there.sent.identity == file.info.identity && there.sent.changed_unix_ns == file.info.changed_unix_ns;
  }
  const bool is_same = has_same_content(file, there);
  if (is_same) there.sent = file.info;  // so that it is not read at each look
  return is_same;
}

// Of a mirror before this one. The tag of an object that was put at once is its MD5; what was put in parts has another
// tag, and is a segment, which never changes.
bool BucketMirror::has_same_content(const Local& file, const There& there) const {
  if (is_segment(file.path)) return true;
  if (file.info.bytes > kMaxComparedBytes) return false;
  const auto content = folder_->read(file.path, kMaxComparedBytes);
  const auto digest = content.ok() ? exchange::md5(*content) : content;
  return digest.ok() && there.etag == fmt::format("\"{}\"", exchange::hex(*digest));
}

// From where the pieces end.
Status BucketMirror::send_growth(const Local& file, There& there, MirrorRound& round) const {
  const auto opened = folder_->open(file.path);
  if (!opened.ok()) return opened.status().code() == Code::kNotFound ? Status() : opened.status();
  const std::string key = key_of(file.path);
  if (there.pieces.empty()) {
    TRAINWARDEN_RETURN_IF_ERROR(client_->put(piece_name(key, 0), {}, PutCondition::kAlways));
    add_pieces(there.pieces, {{.key = piece_name(key, 0), .info = {}}});
  }
  std::string piece;
  for (std::uint64_t sent = bytes_of(there.pieces); sent < file.info.bytes; sent = bytes_of(there.pieces)) {
    piece.resize(std::min(kMaxPieceBytes, file.info.bytes - sent));
    TRAINWARDEN_RETURN_IF_ERROR(read_all(**opened, sent, std::as_writable_bytes(std::span(piece))));
    const std::string name = piece_name(key, there.pieces.size());
    TRAINWARDEN_RETURN_IF_ERROR(client_->put(name, as_bytes(piece), PutCondition::kAlways));
    add_pieces(there.pieces, {{.key = name, .info = {.bytes = piece.size()}}});
    ++round.files;
    round.bytes += piece.size();
  }
  return {};
}

Status BucketMirror::send_whole(const Local& file, There& there, MirrorRound& round) const {
  if (file.content) {
    TRAINWARDEN_RETURN_IF_ERROR(client_->put(key_of(file.path), as_bytes(*file.content), PutCondition::kAlways));
    there.bytes = file.content->size();
    there.etag = "sent";
    there.sent = file.info;
    ++round.files;
    round.bytes += there.bytes;
    return {};
  }
  const auto opened = folder_->open(file.path);
  if (!opened.ok()) return opened.status().code() == Code::kNotFound ? Status() : opened.status();
  // Opened once, so that a file that is replaced meanwhile is sent as it was or as it is.
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t bytes, (*opened)->bytes());
  TRAINWARDEN_RETURN_IF_ERROR(client_->put_large(
      key_of(file.path), bytes,
      [&](std::uint64_t offset, MutableByteSpan destination) { return read_all(**opened, offset, destination); }));
  there.bytes = bytes;
  there.etag = "sent";
  there.sent = file.info;
  ++round.files;
  round.bytes += bytes;
  return {};
}

Status BucketMirror::remove_pieces(There& there) const {
  while (!there.pieces.empty()) {
    TRAINWARDEN_RETURN_IF_ERROR(client_->remove(there.pieces.back().key));
    there.pieces.pop_back();
  }
  return {};
}

}  // namespace trainwarden::storage
