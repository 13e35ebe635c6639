// Names in a folder of smdebug's, made and taken apart.
#include "data/foreign/smdebug_layout.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::foreign {
namespace {

constexpr std::string_view kReductionPrefix = "smdebug/reductions/";

// The whole of `digits` as a number ≥ 0; none for signs, blanks and what does not fit.
std::optional<std::int64_t> parse_digits(std::string_view digits) {
  const bool only_digits = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  return only_digits ? parse_int(digits) : std::nullopt;
}

// `name` without the first of `endings` that it has; none when it has none of them.
template <class... Endings>
std::optional<std::string_view> without_ending(std::string_view name, Endings... endings) {
  std::optional<std::string_view> stem;
  const auto try_ending = [&](std::string_view ending) {
    if (!name.ends_with(ending)) return false;
    stem = name.substr(0, name.size() - ending.size());
    return true;
  };
  (try_ending(endings) || ...);
  return stem;
}

std::string replaced(std::string_view text, char slash, char colon, char for_slash, char for_colon) {
  std::string result(text);
  std::ranges::replace(result, slash, for_slash);
  std::ranges::replace(result, colon, for_colon);
  return result;
}

}  // namespace

std::string_view smdebug_mode_name(Mode mode) {
  constexpr std::array<std::string_view, kAllModes.size()> kNames = {"TRAIN", "EVAL", "PREDICT", "GLOBAL"};
  return kNames[index_of(mode)];
}

std::string smdebug_manifest_file(std::string_view worker) {
  return fmt::format("{}/{}_collections.json", kSmdebugManifestFolder, serialise_worker(worker));
}

std::string smdebug_index_folder(std::int64_t step) {
  return fmt::format("{}/{:09}", kSmdebugIndexFolder, step / kSmdebugStepsPerFolder);
}

std::string smdebug_index_file(std::int64_t step, std::string_view worker) {
  return fmt::format("{}/{:012}_{}.json", smdebug_index_folder(step), step, serialise_worker(worker));
}

std::string smdebug_event_file(std::int64_t step, std::string_view worker) {
  return fmt::format("events/{0:012}/{0:012}_{1}.tfevents", step, serialise_worker(worker));
}

std::optional<std::string> worker_of_manifest(std::string_view file_name) {
  const auto worker = without_ending(file_name, "_collections.json", "_collections.ts");
  if (!worker || worker->empty()) return std::nullopt;
  return deserialise_worker(*worker);
}

std::optional<std::int64_t> number_of_index_folder(std::string_view folder_name) {
  return parse_digits(folder_name);
}

std::optional<SmdebugIndexName> parse_smdebug_index_name(std::string_view file_name) {
  const auto stem = without_ending(file_name, ".json", ".csv");
  if (!stem) return std::nullopt;
  const std::size_t bar = stem->find('_');
  if (bar == std::string_view::npos || bar + 1 == stem->size()) return std::nullopt;
  const auto step = parse_digits(stem->substr(0, bar));
  if (!step) return std::nullopt;
  return SmdebugIndexName{*step, stem->substr(bar + 1)};
}

std::string serialise_worker(std::string_view worker) {
  return replaced(worker, '/', ':', '_', '-');
}

std::string deserialise_worker(std::string_view worker) {
  if (!worker.starts_with('_')) return std::string(worker);
  return replaced(worker, '_', '-', '/', ':');
}

std::string smdebug_reduction_tag(const SmdebugReduction& reduction) {
  return fmt::format("{}{}{}/{}", kReductionPrefix, reduction.abs ? "abs_" : "", name(reduction.reduction),
                     reduction.tensor);
}

std::optional<SmdebugReduction> parse_smdebug_reduction_tag(std::string_view tag) {
  if (!tag.starts_with(kReductionPrefix)) return std::nullopt;
  tag.remove_prefix(kReductionPrefix.size());
  const std::size_t slash = tag.find('/');
  if (slash == std::string_view::npos || slash + 1 == tag.size()) return std::nullopt;
  std::string_view word = tag.substr(0, slash);
  const bool abs = word.starts_with("abs_");
  if (abs) word.remove_prefix(4);
  const std::optional<Reduction> reduction = parse_reduction(word);
  if (!reduction) return std::nullopt;
  return SmdebugReduction{*reduction, abs, tag.substr(slash + 1)};
}

}  // namespace trainwarden::foreign
