#include "store/journal/run_folder.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "data/format/parse_json.h"
#include "store/journal/format_versions.h"
#include "store/storage/lease.h"

namespace trainwarden::journal {
namespace {

using format::Json;

constexpr const char* kJournalFolder = "journal";
constexpr std::uint32_t kFirstWatchId = 0x10000;
constexpr std::uint32_t kLedgerId = 0x20000;
constexpr std::uint32_t kFirstOutputId = 0x30000;
constexpr std::uint32_t kFirstMachineId = 0x40000;

// The decimal number that follows `prefix`, when that is all there is.
std::optional<std::uint32_t> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = text.substr(prefix.size());
  if (digits.empty() || digits.size() > 9) return std::nullopt;
  std::uint32_t number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint32_t>(digit - '0');
  }
  return number;
}

// Workers that come at the same time all put the same id, time and world size.
Result<RunInfo> complete_run(storage::Storage& storage, const RunInfo& there, RunInfo worker) {
  worker.id = there.id;
  worker.created_unix_ns = there.created_unix_ns;
  TRAINWARDEN_RETURN_IF_ERROR(storage.replace(kRunFile, as_bytes(encode_run_info(worker))));
  return worker;
}

// Of another worker, which was first. Where a file system cannot put a file whole (store/storage/put_file.h), or shows
// it late, it is still on its way.
Result<RunInfo> read_run_of_another(const storage::Storage& storage) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kPause{25};
  Result<RunInfo> run = read_run(storage);
  const auto is_on_its_way = [&] {
    const Code code = run.status().code();
    return code == Code::kDataLoss || code == Code::kNotFound || code == Code::kUnavailable;
  };
  for (int i = 1; i < kTries && is_on_its_way(); ++i) {
    std::this_thread::sleep_for(kPause);
    run = read_run(storage);
  }
  return run;
}

bool is_random_id(std::string_view id) {
  return id.size() == 32 && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// FNV-1a of 64 bits. Source: draft-eastlake-fnv.
std::uint64_t hash_of(std::string_view text, std::uint64_t start) {
  std::uint64_t hash = 14695981039346656037ULL ^ start;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash;
}

Status damaged_run(std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("{} does not describe a run: {}", kRunFile, what));
}

Result<RunInfo> fields_of(const Json& json) {
  RunInfo info;
  info.id = json.at("id").get<std::string>();
  info.format_version = json.at("format_version").get<int>();
  info.created_unix_ns = json.at("created_unix_ns").get<std::int64_t>();
  info.world_size = json.at("world_size").get<int>();
  info.code_version = json.value("code_version", "");
  info.framework = json.value("framework", "");
  info.host = json.value("host", "");
  info.command = json.value("command", std::vector<std::string>());
  info.labels = json.value("labels", std::map<std::string, std::string>());
  info.awaits_worker = json.value("awaits_worker", false);
  if (info.format_version > kNewestVersion) {
    return Status(Code::kUnimplemented,
                  fmt::format("the run has format version {} and this program reads up to {}; use a newer trainwarden",
                              info.format_version, kNewestVersion));
  }
  if (info.id.empty()) return damaged_run("its id is empty");
  if (info.world_size < 1) return damaged_run(fmt::format("its world size is {}", info.world_size));
  return info;
}

}  // namespace

std::string make_run_id() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", static_cast<std::uint32_t>(random()));
  return id;
}

std::string encode_run_info(const RunInfo& info) {
  Json json = {
      {"id", info.id},
      {"format_version", info.format_version},
      {"created_unix_ns", info.created_unix_ns},
      {"world_size", info.world_size},
      {"code_version", info.code_version},
      {"host", info.host},
      {"command", info.command},
      {"labels", info.labels},
  };
  if (!info.framework.empty()) json["framework"] = info.framework;
  if (info.awaits_worker) json["awaits_worker"] = true;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<RunInfo> decode_run_info(std::string_view text) {
  try {
    const Result<Json> json = format::parse_json(text, "its text");
    if (!json.ok()) return damaged_run(json.status().message());
    if (!json->is_object()) return damaged_run("it is not a JSON object");
    return fields_of(*json);
  } catch (const Json::exception& error) {
    return damaged_run(error.what());
  }
}

Result<RunInfo> create_or_join_run(storage::Storage& storage, const RunInfo& info, bool goes_on) {
  TRAINWARDEN_RETURN_IF_ERROR(storage.create_folder(""));
  const Status put = storage.put_if_absent(kRunFile, as_bytes(encode_run_info(info)));
  if (put.ok()) return info;
  if (put.code() != Code::kAlreadyExists) return put;
  TRAINWARDEN_ASSIGN_OR_RETURN(RunInfo there, read_run_of_another(storage));
  if (there.awaits_worker && !info.awaits_worker) return complete_run(storage, there, info);
  if (there.world_size == info.world_size || info.awaits_worker) return there;
  if (goes_on && info.world_size < there.world_size) return there;
  return Status(Code::kFailedPrecondition,
                fmt::format("{} is a run of {} workers and this one was started as one of {}; give every worker the "
                            "same world size, or use a new folder",
                            storage.describe(""), there.world_size, info.world_size));
}

Result<RunInfo> read_run(const storage::Storage& storage) {
  Result<std::string> text = storage.read(kRunFile);
  if (!text.ok()) {
    if (text.status().code() != Code::kNotFound) return text.status();
    return Status(Code::kNotFound, fmt::format("no run at {}: there is no {} in it", storage.describe(""), kRunFile));
  }
  Result<RunInfo> info = decode_run_info(*text);
  if (!info.ok()) return info.status().with_context(storage.describe(""));
  return info;
}

std::string run_identity(const RunInfo& info) {
  if (info.id.empty() || is_random_id(info.id)) return info.id;
  const std::string text = encode_run_info(info);
  return fmt::format("{:016x}{:016x}", hash_of(text, 0), hash_of(text, 1));
}

Status check_same_run(const storage::Storage& storage, const RunInfo& info) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const RunInfo there, read_run(storage));
  const std::string expected = run_identity(info);
  const std::string found = run_identity(there);
  if (found == expected) return Status();
  return Status(Code::kFailedPrecondition,
                fmt::format("{} holds another run by now: expected the run {}, found {}; open it again",
                            storage.describe(""), expected, found));
}

std::uint32_t run_salt(const RunInfo& info) {
  return crc32c(as_bytes(info.id));
}

std::string worker_name(int rank) {
  return fmt::format("rank-{:05}", rank);
}

std::string output_name(int rank) {
  return fmt::format("output-{}", rank);
}

std::string machine_name(int number) {
  return fmt::format("machine-{}", number);
}

std::string journal_folder(std::string_view writer) {
  return fmt::format("{}/{}", kJournalFolder, writer);
}

std::string segment_file(std::uint64_t number) {
  return fmt::format("seg-{:08}.tw", number);
}

std::string writer_lease(std::string_view writer) {
  return journal_folder(writer) + "/writer";
}
std::string writer_lock(std::string_view writer) {
  return storage::lock_of_lease(writer_lease(writer));
}
bool has_living_writer(const storage::Storage& storage, std::string_view writer) {
  return storage::is_leased(storage, writer_lease(writer));
}

std::optional<std::uint32_t> writer_id_of(std::string_view writer) {
  if (const auto rank = number_after(writer, "rank-")) return rank;
  if (writer == "ledger") return kLedgerId;
  if (const auto watch = number_after(writer, "watch-")) return kFirstWatchId + *watch;
  if (const auto output = number_after(writer, "output-")) return kFirstOutputId + *output;
  if (const auto machine = number_after(writer, "machine-")) return kFirstMachineId + *machine;
  return std::nullopt;
}

std::optional<std::uint64_t> segment_number(std::string_view file_name) {
  constexpr std::string_view kExtension = ".tw";
  if (!file_name.ends_with(kExtension)) return std::nullopt;
  const auto number = number_after(file_name.substr(0, file_name.size() - kExtension.size()), "seg-");
  return number && segment_file(*number) == file_name ? std::optional<std::uint64_t>(*number) : std::nullopt;
}

Result<std::vector<std::uint64_t>> list_segments(const storage::Storage& storage, std::string_view writer) {
  std::vector<std::uint64_t> numbers;
  Result<std::vector<std::string>> files = storage.list(journal_folder(writer));
  if (!files.ok()) {
    if (files.status().code() == Code::kNotFound) return numbers;
    return files.status();
  }
  for (const std::string& file : *files) {
    if (const auto number = segment_number(file)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<std::vector<std::string>> list_journals(const storage::Storage& storage) {
  Result<std::vector<std::string>> names = storage.list(kJournalFolder);
  if (!names.ok()) {
    if (names.status().code() == Code::kNotFound) return std::vector<std::string>();
    return names.status();
  }
  std::erase_if(*names, [&](const std::string& name) { return !storage.list(journal_folder(name)).ok(); });
  return std::move(*names);
}

std::uint64_t journal_bytes(const storage::Storage& storage, std::initializer_list<std::string_view> prefixes) {
  std::uint64_t bytes = 0;
  for (const storage::Entry& journal : storage.entries(kJournalFolder).value_or({})) {
    if (journal.info.kind != storage::FileInfo::Kind::kFolder) continue;
    const bool wanted = std::any_of(prefixes.begin(), prefixes.end(),
                                    [&](std::string_view prefix) { return journal.name.starts_with(prefix); });
    if (!wanted) continue;
    for (const storage::Entry& file : storage.entries(journal_folder(journal.name)).value_or({})) {
      bytes += file.info.bytes;
    }
  }
  return bytes;
}

}  // namespace trainwarden::journal
