#include "ui/cli/options/gc_policy.h"

#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/storage/location.h"
#include "ui/cli/options/words_option.h"
#include "work/document/document.h"
#include "work/document/table_reader.h"

namespace trainwarden::cli {
namespace {

using retention::KeepRules;

constexpr double kLongestSeconds = 100.0 * 366 * 86400;
constexpr std::int64_t kMostRuns = 1'000'000'000;

std::int64_t as_ns(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

Result<KeepRules> read_policy(const std::filesystem::path& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto table, document::read(file, "a TOML file with rules by which runs are kept"));
  document::Mistakes mistakes;
  document::TableReader reader(table, mistakes);
  KeepRules rules;
  if (const auto age = reader.seconds({"older_than"}, 0, kLongestSeconds)) rules.older_than_ns = as_ns(*age);
  rules.max_bytes = reader.bytes({"max_bytes"});
  if (const auto runs = reader.integer({"max_runs"}, 0, kMostRuns)) rules.max_runs = static_cast<std::uint64_t>(*runs);
  if (const auto last = reader.integer({"keep_last"}, 0, kMostRuns))
    rules.keep_last = static_cast<std::uint64_t>(*last);
  if (const auto age = reader.seconds({"thin_older_than"}, 0, kLongestSeconds)) rules.thin_older_than_ns = as_ns(*age);
  if (const auto every = reader.integer({"every"}, 1, kMostRuns)) rules.every = static_cast<std::uint64_t>(*every);
  rules.keep = reader.texts({"keep"});
  reader.refuse_rest();
  TRAINWARDEN_RETURN_IF_ERROR(mistakes.status());
  return rules;
}

Status wrong(const char* option, const char* expected, const std::string& found) {
  return Status(Code::kInvalidArgument,
                fmt::format("{}: expected {}, found \"{}\"", option, expected, printable(found)));
}

Status read_time(const char* option, const std::string& text, std::optional<std::int64_t>& ns) {
  if (text.empty()) return Status();
  const auto seconds = document::parse_seconds(text);
  if (!seconds || *seconds > kLongestSeconds) return wrong(option, "a time, as in 30d or 12h", text);
  ns = as_ns(*seconds);
  return Status();
}

Result<std::optional<std::uint64_t>> read_number(const char* option, const std::string& text, std::int64_t least) {
  if (text.empty()) return std::optional<std::uint64_t>();
  const auto number = parse_int(text);
  if (!number || *number < least || *number > kMostRuns) {
    return wrong(option, least == 0 ? "a number" : "a number from 1 on", text);
  }
  return std::optional(static_cast<std::uint64_t>(*number));
}

bool says_anything(const GcChoice& choice) {
  return !choice.older_than.empty() || !choice.max_bytes.empty() || !choice.max_runs.empty() ||
         !choice.thin_older_than.empty();
}

Status take_options(const GcChoice& choice, KeepRules& rules) {
  TRAINWARDEN_RETURN_IF_ERROR(read_time("--older-than", choice.older_than, rules.older_than_ns));
  TRAINWARDEN_RETURN_IF_ERROR(read_time("--thin-older-than", choice.thin_older_than, rules.thin_older_than_ns));
  if (!choice.max_bytes.empty()) {
    rules.max_bytes = document::parse_bytes(choice.max_bytes);
    if (!rules.max_bytes) return wrong("--max-bytes", "a size, as in 200GB or 16GiB", choice.max_bytes);
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto max_runs, read_number("--max-runs", choice.max_runs, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto keep_last, read_number("--keep-last", choice.keep_last, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto every, read_number("--every", choice.every, 1));
  if (max_runs) rules.max_runs = max_runs;
  if (keep_last) rules.keep_last = *keep_last;
  if (every) rules.every = *every;
  rules.keep.insert(rules.keep.end(), choice.keep.begin(), choice.keep.end());
  return Status();
}

}  // namespace

Result<KeepRules> GcChoice::read(const std::filesystem::path& runs) const {
  KeepRules rules;
  const std::filesystem::path own = runs / kPolicyFile;
  const storage::Location folder(runs);
  if (!policy.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(rules, read_policy(policy));
  } else if (!says_anything(*this) && folder.storage().exists(kPolicyFile)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(rules, read_policy(own));
  }
  TRAINWARDEN_RETURN_IF_ERROR(take_options(*this, rules));
  if (rules.says_anything()) return rules;
  return Status(Code::kInvalidArgument,
                fmt::format("no rule says what to remove or to thin out; give --older-than, --max-bytes, --max-runs or "
                            "--thin-older-than, or write rules into {}",
                            own.string()));
}

void add_gc_choice(CLI::App& command, GcChoice& choice) {
  command
      .add_option("--policy", choice.policy,
                  "File with rules (default: gc.toml in the folder of runs, when no option gives a rule)")
      ->type_name("FILE");
  command.add_option("--older-than", choice.older_than, "Remove runs that were last written longer ago: 30d, 12h")
      ->type_name("TIME");
  command.add_option("--max-bytes", choice.max_bytes, "Remove the oldest runs until all have no more: 200GB, 1TiB")
      ->type_name("SIZE");
  command.add_option("--max-runs", choice.max_runs, "Remove the oldest runs until there are no more")->type_name("N");
  command.add_option("--keep-last", choice.keep_last, "Never remove the newest N runs")->type_name("N");
  command
      .add_option("--thin-older-than", choice.thin_older_than,
                  "Of runs that were last written longer ago, keep whole tensors of every few steps only")
      ->type_name("TIME");
  command.add_option("--every", choice.every, "Then every N-th step stays whole (default: 10)")->type_name("N");
  add_words(command, "--keep", choice.keep, "Leave runs of this name alone; * stands for any text; can be repeated")
      ->type_name("NAME");
}

}  // namespace trainwarden::cli
