// Metric definitions: which numbers of a program's output are metrics, as users write it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "work/document/document.h"
#include "work/document/mistakes.h"

namespace trainwarden::log_metrics {

// Limits of a training job's definitions in Amazon SageMaker's API; theirs fit here.
inline constexpr std::size_t kMaxDefinitions = 40;
inline constexpr std::size_t kMaxNameBytes = 255;
inline constexpr std::size_t kMaxRegexBytes = 500;
inline constexpr std::size_t kMaxGroups = 30;

// Which matches within one record count.
enum class MatchChoice : std::uint8_t { kFirst, kLast, kAll };
std::string_view name(MatchChoice choice);  // "first", "last", "all"

struct MetricDefinition {
  std::string name;
  // PCRE2, searched for anywhere in a record. The value is the first group that took part, or the whole match of a
  // pattern without groups. A group named `step` is the value's step.
  std::string regex;
  MatchChoice match = MatchChoice::kFirst;
  bool percent = false;    // "12.5%" is 12.5, as 12.5 is
  bool thousands = false;  // "1,234.5" is 1234.5
  std::string place;       // "metrics.toml, line 4", "metrics.json, [2]"; for messages
};

struct DefinitionSet {
  std::vector<MetricDefinition> definitions;
  // Where two definitions match the same text, only that with the longer literal beginning does: "val_loss: " before
  // "loss: ".
  bool strict = false;
};

// A list of {"Name", "Regex"} as SageMaker takes it, of a document; the other fields of a definition have its names.
std::vector<MetricDefinition> read_definitions(const document::DocumentValue& list, document::Mistakes& mistakes);

// TOML with [[metric]] tables, or JSON: that list, or an object with it as "MetricDefinitions". Beside the list,
// strict_metrics. kInvalidArgument tells all mistakes, a line each, with their places; `file` is for these.
Result<DefinitionSet> parse_definitions(std::string_view text, const std::filesystem::path& file);

// Of one MiB at most. Errors as above, and kNotFound, kPermissionDenied.
Result<DefinitionSet> read_definition_file(const std::filesystem::path& file);

// "train:loss=loss: ([0-9.]+)", as on a command line.
Result<MetricDefinition> parse_definition(std::string_view text);

}  // namespace trainwarden::log_metrics
