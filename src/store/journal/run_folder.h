// Run folder: where things are in a run, and its immutable run.json.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/journal/format_versions.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::journal {

inline constexpr const char* kRunFile = "run.json";

// What run.json says. Written once, by whichever worker is first; see awaits_worker.
struct RunInfo {
  std::string id;  // 32 hexadecimal digits, random
  int format_version = kPlainVersion;
  std::int64_t created_unix_ns = 0;
  int world_size = 1;
  std::string code_version;
  std::string framework;  // that the program trains with, and its version, as an adapter says; empty: not known
  std::string host;
  std::vector<std::string> command;  // the training program's arguments
  std::map<std::string, std::string> labels;
  // No worker has written it: who reads the program's output did, to keep what it found there. The first worker that
  // joins puts what it knows itself in its place; id and time stay.
  bool awaits_worker = false;
  friend bool operator==(const RunInfo&, const RunInfo&) = default;
};

std::string make_run_id();  // of a new run
std::string encode_run_info(const RunInfo& info);
Result<RunInfo> decode_run_info(std::string_view json);  // kDataLoss, kUnimplemented for a newer version

// Puts run.json, or reads the one that another worker put. One that awaits a worker is replaced.
// kFailedPrecondition when the world sizes differ; a worker that goes on with the run may be one of fewer.
Result<RunInfo> create_or_join_run(storage::Storage& storage, const RunInfo& info, bool goes_on = false);
// kNotFound when there is no run.json, otherwise as decode_run_info.
Result<RunInfo> read_run(const storage::Storage& storage);

// Tells the run from every other one, also from one that was made later in the same folder: 32 hexadecimal digits. Its
// id when that is such a number; else made of all that run.json says. Empty when it has no id (yet).
std::string run_identity(const RunInfo& info);
// Is it still this run that lies there? kFailedPrecondition when it is another one by now, otherwise as read_run.
Status check_same_run(const storage::Storage& storage, const RunInfo& info);

// Frames carry it, so that another run's frames are refused.
std::uint32_t run_salt(const RunInfo& info);

std::string worker_name(int rank);                    // "rank-00003"
std::string journal_folder(std::string_view writer);  // "journal/rank-00003"
std::string segment_file(std::uint64_t number);       // "seg-00000012.tw"
std::string writer_lock(std::string_view writer);     // "journal/rank-00003/writer.lock"
std::string writer_lease(std::string_view writer);    // "journal/rank-00003/writer", as storage::take_lease() has it
// Is a process writing this journal, for all that can be seen from here?
bool has_living_writer(const storage::Storage& storage, std::string_view writer);
// "output-3": who reads what worker 3 prints.
std::string output_name(int rank);
// "machine-0": who samples a machine that the training runs on; the first free number counts.
std::string machine_name(int number);
inline constexpr int kMaxMachines = 0x10000;
// The id that a writer's frames carry: 3 for "rank-00003", 0x10000 + n for "watch-n", 0x20000 for "ledger", 0x30000 + n
// for "output-n", 0x40000 + n for "machine-n", none for other names.
std::optional<std::uint32_t> writer_id_of(std::string_view writer);
// 12 for "seg-00000012.tw", none for other files.
std::optional<std::uint64_t> segment_number(std::string_view file_name);
// Numbers of the segments of a journal, rising; empty when there is no such journal.
Result<std::vector<std::uint64_t>> list_segments(const storage::Storage& storage, std::string_view writer);
// Names of the journals there are, sorted: "rank-00000", "watch-0".
Result<std::vector<std::string>> list_journals(const storage::Storage& storage);
// What the files of all journals have together; with `prefixes` of those only whose names begin with one of them. What
// cannot be looked at counts nothing.
std::uint64_t journal_bytes(const storage::Storage& storage, std::initializer_list<std::string_view> prefixes = {""});

}  // namespace trainwarden::journal
