// StepRange and ExportFormat: what people type.
#include <array>

#include <fmt/format.h>

#include "core/base/text.h"
#include "trainwarden/transfer.h"

namespace trainwarden {
namespace {

constexpr std::array<std::string_view, 8> kFormatNames = {"smdebug", "tensorboard", "safetensors", "npz",
                                                          "csv",     "json",        "mcap",        "parquet"};

Status bad_range(std::string_view text) {
  return Status(Code::kInvalidArgument, fmt::format("\"{}\" names no steps: expected FIRST:END, FIRST:END:EVERY or one "
                                                    "step, as 0:1000, ::10 or 7",
                                                    printable(text)));
}

// "a:b:c" into its parts, each possibly empty; more than three are an error.
Result<std::vector<std::string>> parts_of(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() > 3) return bad_range(text);
  return parts;
}

Result<StepRange> parse_range(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> parts, parts_of(text));
  std::array<std::optional<std::int64_t>, 3> numbers;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty() && parts.size() > 1) continue;
    numbers[i] = parse_int(parts[i]);
    if (!numbers[i] || *numbers[i] < 0) return bad_range(text);
  }
  StepRange range{numbers[0].value_or(0), numbers[1], numbers[2].value_or(1)};
  if (parts.size() == 1) range.end = range.first + 1;
  if (range.every < 1) return bad_range(text);
  return range;
}

}  // namespace

std::string_view name(ExportFormat format) {
  return kFormatNames.at(static_cast<std::size_t>(format));
}

std::optional<ExportFormat> parse_export_format(std::string_view text) {
  for (std::size_t i = 0; i < kFormatNames.size(); ++i) {
    if (kFormatNames[i] == text) return static_cast<ExportFormat>(i);
  }
  return std::nullopt;
}

bool StepRange::holds(std::int64_t step) const {
  return step >= first && (!end || step < *end) && (step - first) % every == 0;
}

Result<std::vector<StepRange>> parse_step_ranges(std::string_view text) {
  std::vector<StepRange> ranges;
  for (const std::string& part : split_list(text)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const StepRange range, parse_range(part));
    ranges.push_back(range);
  }
  if (ranges.empty()) return bad_range(text);
  return ranges;
}

}  // namespace trainwarden
