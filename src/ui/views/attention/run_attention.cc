#include "ui/views/attention/run_attention.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/toml_document.h"
#include "ui/views/attention/attention_caches.h"
#include "ui/views/attention/guess.h"
#include "ui/views/attention/mapping_file.h"

namespace trainwarden::views::attention {
namespace {

namespace fs = std::filesystem;

// What a small value counts for, with all that keeps it.
constexpr std::size_t kLeastBytes = 4096;

bool holds(const std::vector<std::int64_t>& steps, std::int64_t step) {
  return std::binary_search(steps.begin(), steps.end(), step);
}

std::vector<std::int64_t> steps_of(const Trial& trial, const std::string& tensor) {
  return tensor.empty() ? std::vector<std::int64_t>() : trial.steps_of(tensor, Mode::kGlobal, Kept::kValue);
}

std::vector<std::int64_t> steps_of_layer(const Trial& trial, const LayerMap& layer) {
  const std::vector<std::int64_t> attention = steps_of(trial, layer.attention);
  const std::vector<std::int64_t> query = steps_of(trial, layer.query);
  const std::vector<std::int64_t> key = steps_of(trial, layer.key);
  std::vector<std::int64_t> both;
  if (layer.heads > 0)
    std::set_intersection(query.begin(), query.end(), key.begin(), key.end(), std::back_inserter(both));
  std::vector<std::int64_t> any;
  std::set_union(attention.begin(), attention.end(), both.begin(), both.end(), std::back_inserter(any));
  return any;
}

// What shows whether a mapping file is still the one that was read.
struct FileStamp {
  enum class Source { kNone, kRun, kUser };
  Source source = Source::kNone;
  std::int64_t changed = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// Of the file in the run.
FileStamp stamp_in(const storage::Storage& run) {
  const auto info = run.info(kMappingFile);
  if (!info.ok() || info->kind != storage::FileInfo::Kind::kFile) return {};
  return {FileStamp::Source::kRun, info->changed_unix_ns, info->bytes};
}

// Of one that the user asked for: it is read even if it is not there, as reading says so.
FileStamp stamp_of(const fs::path& file) {
  FileStamp stamp{.source = FileStamp::Source::kUser};
  std::error_code error;
  const fs::file_time_type written = fs::last_write_time(file, error);
  if (error) return stamp;
  stamp.changed = written.time_since_epoch().count();
  stamp.bytes = fs::file_size(file, error);
  return stamp;
}

Result<MappingFile> read_mapping_of(const storage::Location& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, run.storage().read(kMappingFile, kMaxTomlBytes));
  return parse_mapping(text, run.path() / kMappingFile);
}

}  // namespace

struct RunAttention::Memory {
  FileStamp stamp;  // of the file that the map is from
  std::shared_ptr<const AttentionMap> map;
  std::size_t names = 0;  // when the map was made
  std::uint64_t map_version = 0;
  std::vector<std::int64_t> steps;
  std::uint64_t steps_version = 0;
  std::shared_ptr<AttentionCaches> caches = std::make_shared<AttentionCaches>();
};

RunAttention::RunAttention(std::shared_ptr<OpenRun> run, fs::path file)
    : run_(std::move(run)), file_(std::move(file)) {}

Result<std::shared_ptr<const AttentionMap>> RunAttention::map_in(const OpenRun::Use& use) const {
  auto& memory = use.memory<Memory>();
  const FileStamp stamp = file_.empty() ? stamp_in(run_->location().storage()) : stamp_of(file_);
  const bool same_file = memory.stamp == stamp;
  if (memory.map != nullptr && same_file && memory.map_version == use.version()) return memory.map;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto names, use.trial().tensor_names());
  // Tensors come with the first steps; once the map has layers, only new names can change it.
  if (memory.map == nullptr || !same_file || memory.names != names.size() || memory.map->layers.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(AttentionMap map, make_map(use.trial(), stamp.source == FileStamp::Source::kRun));
    memory.map = std::make_shared<const AttentionMap>(std::move(map));
    memory.stamp = stamp;
    memory.names = names.size();
    memory.steps_version = 0;
    memory.caches = std::make_shared<AttentionCaches>();
  }
  memory.map_version = use.version();
  return memory.map;
}

Result<AttentionMap> RunAttention::make_map(Trial& trial, bool run_has_file) const {
  if (file_.empty() && !run_has_file) return guess_map(trial);
  auto mapping = file_.empty() ? read_mapping_of(run_->location()) : read_mapping_file(file_);
  if (!mapping.ok()) return mapping.status();
  return map_by_file(trial, *mapping);
}

Result<const std::vector<std::int64_t>*> RunAttention::steps_in(const OpenRun::Use& use) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto map, map_in(use));
  auto& memory = use.memory<Memory>();
  if (memory.steps_version == use.version()) return &memory.steps;
  std::vector<std::int64_t> steps;
  for (const LayerMap& layer : map->layers) {
    const std::vector<std::int64_t> of_layer = steps_of_layer(use.trial(), layer);
    std::vector<std::int64_t> all;
    std::set_union(steps.begin(), steps.end(), of_layer.begin(), of_layer.end(), std::back_inserter(all));
    steps = std::move(all);
  }
  memory.steps = std::move(steps);
  memory.steps_version = use.version();
  return &memory.steps;
}

Result<std::shared_ptr<const AttentionMap>> RunAttention::map() const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, run_->use());
  return map_in(use);
}

Result<LayerMap> RunAttention::layer(std::int64_t index) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto map, this->map());
  const auto layers = static_cast<std::int64_t>(map->layers.size());
  if (index >= 0 && index < layers) return map->layers[static_cast<std::size_t>(index)];
  if (layers == 0) return Status(Code::kFailedPrecondition, map->note);
  return Status(Code::kOutOfRange, fmt::format("there is no layer {}: expected 0 to {}", index, layers - 1));
}

Result<std::vector<std::int64_t>> RunAttention::steps(std::optional<Mode> mode) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, run_->use());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto* all, steps_in(use));
  if (!mode || *mode == Mode::kGlobal) return *all;
  std::vector<std::int64_t> steps;
  std::copy_if(all->begin(), all->end(), std::back_inserter(steps),
               [&](std::int64_t step) { return use.trial().mode_of(step) == mode; });
  return steps;
}

Result<AttentionStep> RunAttention::place_of(std::optional<std::int64_t> wanted) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, run_->use());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto* steps, steps_in(use));
  if (steps->empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto map, map_in(use));
    return Status(Code::kFailedPrecondition, map->note.empty() ? "no step of this run has attention" : map->note);
  }
  const auto after = wanted ? std::upper_bound(steps->begin(), steps->end(), *wanted) : steps->end();
  if (after == steps->begin()) {
    return Status(Code::kOutOfRange,
                  fmt::format("no attention at or before step {}; the first is at step {}", *wanted, steps->front()));
  }
  const std::int64_t step = *std::prev(after);
  return AttentionStep{step, use.trial().mode_of(step).value_or(Mode::kGlobal),
                       use.trial().mode_step_of(step).value_or(step), wanted == step};
}

Result<std::optional<std::int64_t>> RunAttention::global_step(Mode mode, std::int64_t mode_step) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, run_->use());
  return use.trial().global_step(mode, mode_step);
}

Result<std::optional<std::int64_t>> RunAttention::first_step_of(std::int64_t layer) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const LayerMap map, this->layer(layer));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, run_->use());
  const std::vector<std::int64_t> steps = steps_of_layer(use.trial(), map);
  return steps.empty() ? std::optional<std::int64_t>() : std::optional(steps.front());
}

Result<std::shared_ptr<AttentionCaches>> RunAttention::caches() const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, run_->use());
  return use.memory<Memory>().caches;
}

Result<SharedValue> RunAttention::read_value(const std::string& tensor, std::int64_t step) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto caches, this->caches());
  const auto fetch = [&]() -> Result<SharedTensorValue> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, run_->use());
    return use.trial().shared_value(tensor, step);
  };
  const auto bytes_of = [](const SharedTensorValue& value) { return std::max(kLeastBytes, value.view.packed_bytes()); };
  return caches->values.get({tensor, step}, fetch, bytes_of);
}

Result<LayerValues> RunAttention::read(std::int64_t layer, std::int64_t step, Need need) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const LayerMap map, this->layer(layer));
  bool has_attention = false;
  bool has_queries = false;
  {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, run_->use());
    has_attention = holds(steps_of(use.trial(), map.attention), step);
    has_queries = map.has_queries() && holds(steps_of(use.trial(), map.query), step) &&
                  holds(steps_of(use.trial(), map.key), step);
  }
  const std::string where = fmt::format("layer {} (\"{}\") at step {}", layer, printable(map.name), step);
  if (need == Need::kQueries && !map.has_queries()) {
    return Status(Code::kFailedPrecondition,
                  where + ": queries and keys were not captured, or nothing says which they are");
  }
  if (need == Need::kQueries ? !has_queries : !has_attention && !has_queries) {
    return Status(Code::kOutOfRange, fmt::format("{}: {} not captured there", where,
                                                 need == Need::kQueries ? "queries and keys were" : "attention was"));
  }
  SharedValue attention;
  SharedValue query;
  SharedValue key;
  if (has_attention) {
    TRAINWARDEN_ASSIGN_OR_RETURN(attention, read_value(map.attention, step));
  }
  if (need == Need::kQueries || !has_attention) {
    TRAINWARDEN_ASSIGN_OR_RETURN(query, read_value(map.query, step));
    TRAINWARDEN_ASSIGN_OR_RETURN(key, read_value(map.key, step));
  }
  return assemble_layer(map, std::move(attention), std::move(query), std::move(key));
}

Result<TokenLabels> RunAttention::labels(bool of_keys, std::int64_t step, std::int64_t item, std::int64_t items,
                                         std::int64_t length) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto use, run_->use());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto map, map_in(use));
  const std::string& tokens = of_keys && !map->key_tokens.empty() ? map->key_tokens : map->tokens;
  return read_labels(use.trial(), tokens, step, item, items, length);
}

Result<TokenLabels> RunAttention::query_labels(std::int64_t step, std::int64_t item, const LayerValues& values) const {
  return labels(false, step, item, values.items, values.query_length);
}

Result<TokenLabels> RunAttention::key_labels(std::int64_t step, std::int64_t item, const LayerValues& values) const {
  return labels(true, step, item, values.items, values.key_length);
}

}  // namespace trainwarden::views::attention
