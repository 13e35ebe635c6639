// Run folder: where things are in a run, and its immutable run.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::store {

inline constexpr const char* kRunFile = "run.json";

// What run.json says. Written once, by whichever worker is first.
struct RunInfo {
  std::string id;                             // 32 hexadecimal digits, random
  int format_version = 1;
  std::int64_t created_unix_ns = 0;
  int world_size = 1;
  std::string code_version;
  std::string host;
  std::vector<std::string> command;           // the training program's arguments
  std::map<std::string, std::string> labels;
  friend bool operator==(const RunInfo&, const RunInfo&) = default;
};

std::string encode_run_info(const RunInfo& info);
Result<RunInfo> decode_run_info(std::string_view json);  // kDataLoss

// Puts run.json, or reads the one that another worker put. kFailedPrecondition when the world sizes differ.
Result<RunInfo> create_or_join_run(storage::Storage& storage, const RunInfo& info);
// kNotFound when there is no run.json, kDataLoss when it cannot be read.
Result<RunInfo> read_run(const storage::Storage& storage);

// Frames carry it, so that another run's frames are refused.
std::uint32_t run_salt(const RunInfo& info);

std::string worker_name(int rank);                    // "rank-00003"
std::string journal_folder(std::string_view writer);  // "journal/rank-00003"
std::string segment_file(std::uint64_t number);       // "seg-00000012.tw"
std::string writer_lock(std::string_view writer);     // "journal/rank-00003/writer.lock"
// Names of the journals there are, sorted: "rank-00000", "watch-0".
Result<std::vector<std::string>> list_journals(const storage::Storage& storage);

}  // namespace trainwarden::store
