// What is wrong with a job besides its text: files that are not there, more than this machine has, metrics that
// mislead.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "work/document/mistakes.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::jobs {

enum class FileKind : std::uint8_t { kNone, kFile, kFolder };

struct Machine {
  std::int64_t cpus = 1;
  std::uint64_t memory_bytes = 0;  // 0: not known; so for all of these
  std::uint64_t free_disk_bytes = 0;
  std::optional<std::int64_t> gpus;
};

// What a job is checked against; tests make their own.
struct Surroundings {
  std::filesystem::path folder;  // where relative paths begin: that of the job's file
  std::function<FileKind(const std::filesystem::path&)> look;
  std::function<bool(const std::string&)> is_program;  // a shell would find it
  Machine machine;
};

// What may be meant, and probably is not.
struct Warning {
  std::string code;  // "METRIC_AMBIGUOUS" and others of log_metrics/lint.h, "SHARDS", "BUCKET"
  std::string place;
  std::string what;
};

// Adds what is wrong to `mistakes`; returns what may be. Rules and actions are checked by who knows them.
std::vector<Warning> lint(const JobSpec& spec, const Surroundings& surroundings, document::Mistakes& mistakes);

}  // namespace trainwarden::jobs
