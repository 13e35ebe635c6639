// RunAttention: the attention of one open run, for those who look at it.
//
// From any thread. The run's lock is held only while a value is fetched; what is computed from it is computed outside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ui/views/attention/attention_map.h"
#include "ui/views/attention/layer_values.h"
#include "ui/views/attention/token_labels.h"
#include "ui/views/shelf.h"

namespace trainwarden::views::attention {

// A step, as people and programs name it.
struct AttentionStep {
  std::int64_t step = 0;  // global
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = 0;
  bool asked_for = false;  // it is the very step that was wanted, so the answer will never be another
};

struct AttentionCaches;

class RunAttention {
 public:
  // `file` maps the tensors of this run; empty: attention.toml in the run's folder when there is one, else the guess.
  RunAttention(std::shared_ptr<OpenRun> run, std::filesystem::path file);

  const OpenRun& run() const { return *run_; }
  // Errors of the file: kInvalidArgument with the line.
  Result<std::shared_ptr<const AttentionMap>> map() const;
  // kOutOfRange when there are fewer layers.
  Result<LayerMap> layer(std::int64_t index) const;

  // Global steps at which some layer has attention, or queries and keys. With a mode: those of the mode.
  Result<std::vector<std::int64_t>> steps(std::optional<Mode> mode = {}) const;
  // The newest of them at or before `wanted`; none wanted: the newest. kOutOfRange when there is none.
  Result<AttentionStep> place_of(std::optional<std::int64_t> wanted) const;

  // A step of a mode as a global one; nothing when there is none.
  Result<std::optional<std::int64_t>> global_step(Mode mode, std::int64_t mode_step) const;
  // Of this layer; nothing when it has none.
  Result<std::optional<std::int64_t>> first_step_of(std::int64_t layer) const;

  // kOutOfRange when the layer was not captured at that step.
  Result<LayerValues> read(std::int64_t layer, std::int64_t step, Need need) const;
  // Of the queries' side or the keys' side.
  Result<TokenLabels> query_labels(std::int64_t step, std::int64_t item, const LayerValues& values) const;
  Result<TokenLabels> key_labels(std::int64_t step, std::int64_t item, const LayerValues& values) const;

  // What was made at a cost; lives as long as the run is open or somebody has it.
  Result<std::shared_ptr<AttentionCaches>> caches() const;

 private:
  struct Memory;
  Result<std::shared_ptr<const AttentionMap>> map_in(const OpenRun::Use& use) const;
  Result<AttentionMap> make_map(Trial& trial, bool run_has_file) const;
  Result<const std::vector<std::int64_t>*> steps_in(const OpenRun::Use& use) const;
  Result<SharedValue> read_value(const std::string& tensor, std::int64_t step) const;
  Result<TokenLabels> labels(bool of_keys, std::int64_t step, std::int64_t item, std::int64_t items,
                             std::int64_t length) const;

  std::shared_ptr<OpenRun> run_;
  std::filesystem::path file_;
};

}  // namespace trainwarden::views::attention
