#include "read/upkeep/merge_parts.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "data/format/run_event.h"
#include "store/journal/journal_reader.h"

namespace trainwarden::upkeep {
namespace {

constexpr const char* kLedger = "ledger";

Status read_steps(const std::string& writer, MergePart& part) {
  const storage::Storage& storage = part.location.storage();
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto reader,
                               journal::JournalReader::open(storage, part.info, writer, {.live = false}));
  for (const journal::StepEntry& step : reader->steps()) part.steps[step.global_step] = {step.mode, step.mode_step};
  bool has_ended = false;
  TRAINWARDEN_RETURN_IF_ERROR(reader->visit_events(0, [&](std::size_t, const journal::EventEntry& event) {
    if (event.kind != format::FrameKind::kEvent) return;
    const auto end = format::decode_run_end(event.json);
    if (end.ok() && end->has_value()) has_ended = true;
    if (format::is_run_resume(event.json)) has_ended = false;
  }));
  if (has_ended) part.ended.insert(writer);
  return {};
}

int rank_of(const std::string& writer) {
  return static_cast<int>(journal::writer_id_of(writer).value_or(0));
}

bool starts(const std::string& writer, std::string_view prefix) {
  return writer.starts_with(prefix) && journal::writer_id_of(writer).has_value();
}

// "output-3" is what worker 3 printed.
std::optional<int> printed_rank(const std::string& writer) {
  if (!starts(writer, "output-")) return std::nullopt;
  return static_cast<int>(*parse_int(writer.substr(std::string_view("output-").size())));
}

std::string why_left(const MergePart& part, const std::string& what, std::string_view why) {
  return fmt::format("{}: {}, {}", part.location.address(), what, why);
}

constexpr std::string_view kLedgerStays =
    "whose numbers would not fit those of the merged run; `trainwarden watch` or `check` judge it anew";

void leave_ledgers(std::vector<MergePart>& parts, std::vector<std::string>& left_behind) {
  for (MergePart& part : parts) {
    if (std::erase(part.writers, kLedger) > 0) left_behind.push_back(why_left(part, "its ledger", kLedgerStays));
  }
}

// A ledger names the journals that its events came from: it can stay where none of them got another name.
bool may_keep_ledger(const std::vector<MergePart>& parts) {
  const auto has_ledger = [](const MergePart& part) {
    return std::find(part.writers.begin(), part.writers.end(), kLedger) != part.writers.end();
  };
  if (std::count_if(parts.begin(), parts.end(), has_ledger) != 1) return false;
  const auto part = std::find_if(parts.begin(), parts.end(), has_ledger);
  return std::all_of(part->new_names.begin(), part->new_names.end(),
                     [](const auto& name) { return name.first == name.second; });
}

void name_ranks(std::vector<MergePart>& parts) {
  const bool collide = ranks_collide(parts);
  int next_rank = 0;
  for (MergePart& part : parts) {
    std::map<int, int> new_rank;
    for (const std::string& writer : part.writers) {
      if (is_worker(writer)) new_rank[rank_of(writer)] = collide ? next_rank++ : rank_of(writer);
    }
    for (const auto& [rank, now] : new_rank) part.new_names[journal::worker_name(rank)] = journal::worker_name(now);
    for (const std::string& writer : part.writers) {
      const auto rank = printed_rank(writer);
      if (!rank) continue;
      const auto known = new_rank.find(*rank);
      // One whose worker has left nothing has no rank that it could follow.
      part.new_names[writer] = journal::output_name(known != new_rank.end() ? known->second : *rank);
    }
  }
}

std::string differing(const char* what, const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  for (const std::string& value : values) quoted.push_back(fmt::format("\"{}\"", printable(value)));
  return fmt::format("{} ({})", what, fmt::join(quoted, ", "));
}

// The value that all that have one agree on; nothing when they do not.
std::optional<std::string> agreed(const std::vector<std::string>& values) {
  std::string found;
  for (const std::string& value : values) {
    if (value.empty()) continue;
    if (!found.empty() && found != value) return std::nullopt;
    found = value;
  }
  return found;
}

}  // namespace

bool is_worker(std::string_view writer) {
  return writer.starts_with("rank-") && journal::writer_id_of(writer).has_value();
}

Result<MergePart> read_part(const storage::Location& location) {
  TRAINWARDEN_RETURN_IF_ERROR(check_copy_source(location, "merge"));
  MergePart part{location, {}, {}, {}, {}, {}, {}};
  const storage::Storage& storage = location.storage();
  TRAINWARDEN_ASSIGN_OR_RETURN(part.info, journal::read_run(storage));
  part.origins = read_origins(storage).value_or({});
  TRAINWARDEN_ASSIGN_OR_RETURN(part.writers, journal::list_journals(storage));
  for (const std::string& writer : part.writers) {
    if (is_worker(writer)) TRAINWARDEN_RETURN_IF_ERROR(read_steps(writer, part));
  }
  return part;
}

bool ranks_collide(const std::vector<MergePart>& parts) {
  std::set<std::string> seen;
  for (const MergePart& part : parts) {
    for (const std::string& writer : part.writers) {
      if (is_worker(writer) && !seen.insert(writer).second) return true;
    }
  }
  return false;
}

Status name_workers_journals(std::vector<MergePart>& parts, std::vector<std::string>& left_behind) {
  name_ranks(parts);
  int next_watch = 0;
  int next_machine = 0;
  std::set<std::string> taken;
  for (MergePart& part : parts) {
    for (const std::string& writer : part.writers) {
      if (starts(writer, "watch-")) part.new_names[writer] = fmt::format("watch-{}", next_watch++);
      if (starts(writer, "machine-")) part.new_names[writer] = journal::machine_name(next_machine++);
    }
  }
  if (may_keep_ledger(parts)) {
    for (MergePart& part : parts) {
      for (const std::string& writer : part.writers) {
        if (writer == kLedger) part.new_names[writer] = writer;
      }
    }
  } else {
    leave_ledgers(parts, left_behind);
  }
  for (MergePart& part : parts) {
    for (const std::string& writer : part.writers) {
      const auto known = part.new_names.find(writer);
      if (known == part.new_names.end()) {
        left_behind.push_back(
            why_left(part, journal::journal_folder(writer), "a journal of no kind that is known here"));
      } else if (!taken.insert(known->second).second) {
        return Status(Code::kInvalidArgument, fmt::format("{} and a run before it have both {}, and no worker that it "
                                                          "belongs to; these runs cannot be merged",
                                                          part.location.address(), writer));
      }
    }
  }
  return {};
}

void name_attempts_journals(std::vector<MergePart>& parts, std::vector<std::string>& left_behind) {
  leave_ledgers(parts, left_behind);
  for (MergePart& part : parts) {
    for (const std::string& writer : part.writers) {
      if (journal::writer_id_of(writer)) {
        part.new_names[writer] = writer;
      } else {
        left_behind.push_back(
            why_left(part, journal::journal_folder(writer), "a journal of no kind that is known here"));
      }
    }
  }
}

Result<journal::RunInfo> merged_info(const std::vector<MergePart>& parts, MergeKind kind,
                                     std::optional<std::size_t> preferred) {
  journal::RunInfo info = parts[preferred.value_or(0)].info;
  info.awaits_worker = false;
  std::vector<std::string> conflicts;
  std::vector<std::string> versions;
  std::vector<std::string> commands;
  std::map<std::string, std::vector<std::string>> labels;
  std::set<int> world_sizes;
  int ranks = 0;
  for (const MergePart& part : parts) {
    info.created_unix_ns = std::min(info.created_unix_ns, part.info.created_unix_ns);
    info.format_version = std::max(info.format_version, part.info.format_version);
    versions.push_back(part.info.code_version);
    commands.push_back(fmt::format("{}", fmt::join(part.info.command, " ")));
    for (const auto& [key, value] : part.info.labels) labels[key].push_back(value);
    world_sizes.insert(part.info.world_size);
    ranks += static_cast<int>(std::count_if(part.writers.begin(), part.writers.end(), is_worker));
  }
  for (const auto& [key, values] : labels) {
    const auto value = agreed(values);
    if (!value) conflicts.push_back(differing(fmt::format("label {}", printable(key)).c_str(), values));
    if (preferred && parts[*preferred].info.labels.contains(key)) continue;
    info.labels[key] = value.value_or(values.back());
  }
  if (!agreed(versions)) conflicts.push_back(differing("code version", versions));
  if (!agreed(commands)) conflicts.push_back(differing("command", commands));
  if (!preferred) {
    info.code_version = agreed(versions).value_or("");
    const auto told =
        std::find_if(parts.begin(), parts.end(), [](const MergePart& part) { return !part.info.command.empty(); });
    if (told != parts.end()) info.command = told->info.command;
    if (!conflicts.empty()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("the runs do not agree on what they were: {}; --prefer RUN says whose words count",
                                fmt::join(conflicts, "; ")));
    }
  }
  if (kind == MergeKind::kAttempts) {
    info.world_size = *world_sizes.rbegin();
  } else if (ranks_collide(parts)) {
    info.world_size = ranks;
  } else if (world_sizes.size() > 1) {
    return Status(Code::kInvalidArgument,
                  fmt::format("workers of one training were told the same number of workers; these runs have {}",
                              fmt::join(world_sizes, " and ")));
  }
  return info;
}

Status check_same_steps(const std::vector<MergePart>& parts) {
  std::map<std::int64_t, std::pair<Mode, std::int64_t>> known;
  for (const MergePart& part : parts) {
    for (const auto& [step, mode] : part.steps) {
      const auto [found, is_new] = known.emplace(step, mode);
      if (is_new || found->second == mode) continue;
      return Status(Code::kInvalidArgument,
                    fmt::format("step {} is step {} of mode {} in one run and step {} of mode {} in {}: these are not "
                                "workers of one training",
                                step, found->second.second, name(found->second.first), mode.second, name(mode.first),
                                part.location.address()));
    }
  }
  return {};
}

}  // namespace trainwarden::upkeep
