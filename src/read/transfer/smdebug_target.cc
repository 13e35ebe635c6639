// smdebug: a folder that smdebug 1.0.34 opens as a trial. Its layout is in data/foreign/smdebug_layout.h.
#include <map>
#include <set>

#include "core/base/text.h"
#include "data/foreign/smdebug_index.h"
#include "data/foreign/smdebug_layout.h"
#include "data/foreign/tf_event.h"
#include "data/foreign/tf_record.h"
#include "read/transfer/smdebug_names.h"
#include "read/transfer/statistics_fields.h"
#include "read/transfer/target_writer.h"

namespace trainwarden::transfer {
namespace {

class SmdebugTarget final : public TargetWriter {
 public:
  explicit SmdebugTarget(const TargetPlan& plan)
      : plan_(plan),
        footer_(plan.options.record_crc ? foreign::RecordFooter::kPayloadCrc : foreign::RecordFooter::kConstant) {}

  Status begin_step(const WorkerStep& step) override {
    step_ = step;
    worker_ = foreign::serialise_worker(smdebug_worker(step.worker));
    index_ = {};
    tags_.clear();
    index_.mode = step.mode;
    index_.mode_step = step.mode_step;
    events_.reset();
    plugin_data_ = {{"mode_step", std::to_string(step.mode_step)},
                    {"mode", std::to_string(static_cast<int>(step.mode))}};
    return {};
  }

  Status write_value(std::string_view tensor, const SharedTensorValue& value) override {
    names_.emplace(tensor);
    TensorView view = value.view;
    note_unreadable(tensor, view);
    if (view.dtype == DType::kString && view.shape.rank() != 1) {
      plan_.notes.changed("texts of other than one dimension, flattened to one", tensor);
      view.shape = Shape{view.element_count()};
    }
    return append(tensor, view);
  }

  Status write_scalar(std::string_view tensor, double value) override {
    names_.emplace(tensor);
    return append_double(std::string(tensor), value);
  }

  Status write_statistics(std::string_view tensor, const format::StatisticsRow& row) override {
    add_shape(tensor, row.shape);
    plan_.notes.lost("counts of NaN, infinite and zero elements", tensor);
    if (row.statistics.has_histogram) plan_.notes.lost("histograms", tensor);
    if (row.statistics.has_hash) plan_.notes.lost("hashes", tensor);
    return write_reductions(tensor, reductions_of(row.statistics));
  }

  Status write_reductions(std::string_view tensor, std::span<const SavedReduction> reductions) override {
    names_.emplace(tensor);
    for (const SavedReduction& saved : reductions) {
      const std::string tag = foreign::smdebug_reduction_tag({saved.reduction, saved.abs, tensor});
      TRAINWARDEN_RETURN_IF_ERROR(append_double(tag, saved.value));
    }
    return {};
  }

  Status write_shape(std::string_view tensor, DType, const Shape& shape) override {
    plan_.notes.lost("the dtype beside a shape", tensor);
    add_shape(tensor, shape);
    return {};
  }

  // The index comes last: it makes the step visible.
  Status end_step() override {
    if (events_) TRAINWARDEN_RETURN_IF_ERROR(events_->commit());
    events_.reset();
    if (workers_.insert(worker_).second) TRAINWARDEN_RETURN_IF_ERROR(write_manifest(worker_));
    return put(foreign::smdebug_index_file(step_.global_step, worker_), foreign::encode_smdebug_index(index_));
  }

  Status finish(bool run_ended) override {
    for (const std::string& worker : workers_) TRAINWARDEN_RETURN_IF_ERROR(write_manifest(worker));
    return run_ended ? put(std::string(foreign::kSmdebugEndMarker), "") : Status();
  }

 private:
  void note_unreadable(std::string_view tensor, const TensorView& view) {
    if (const std::string why = unreadable_for_smdebug(view.dtype); !why.empty()) plan_.notes.changed(why, tensor);
    if (view.element_count() == 0) plan_.notes.changed("empty tensors, which smdebug does not read", tensor);
  }

  // Not beside a value: smdebug would then no longer find the value, which has the shape anyway.
  void add_shape(std::string_view tensor, const Shape& shape) {
    names_.emplace(tensor);
    if (tags_.count(tensor) > 0) return;
    index_.shapes.push_back({std::string(tensor), std::string(tensor), shape});
  }

  Status append_double(const std::string& tag, double value) {
    return append(tag, TensorView::of(&value, DType::kFloat64, {1}));
  }

  Status append(std::string_view tag, const TensorView& view) {
    if (!tags_.emplace(tag).second) {
      plan_.notes.lost(kTwiceUnderOneName, tag);
      return {};
    }
    if (!events_) {
      index_.event_file = foreign::smdebug_event_file(step_.global_step, worker_);
      TRAINWARDEN_ASSIGN_OR_RETURN(events_, OutputFile::create(plan_.options.out / index_.event_file, plan_.tally));
    }
    constexpr double kNsPerSecond = 1e9;
    const std::string event = foreign::encode_tensor_event(static_cast<double>(step_.unix_ns) / kNsPerSecond,
                                                           step_.global_step, tag, view, plugin_data_, true);
    std::string record;
    foreign::append_record(record, as_bytes(event), footer_);
    index_.tensors.push_back({std::string(tag), events_->bytes(), record.size()});
    return events_->append(record);
  }

  int world_size() const {
    const auto& chosen = plan_.options.choice.workers;
    return chosen.empty() ? plan_.trial.world_size() : static_cast<int>(chosen.size());
  }

  // With the members that were written so far; smdebug reads it once, when it opens the folder.
  Status write_manifest(const std::string& worker) {
    foreign::SmdebugManifest manifest;
    manifest.num_workers = world_size();
    for (const std::string& name : plan_.trial.collections()) {
      TRAINWARDEN_ASSIGN_OR_RETURN(Collection collection, plan_.trial.collection(name));
      std::erase_if(collection.tensor_names, [&](const std::string& tensor) { return names_.count(tensor) == 0; });
      manifest.collections.push_back(smdebug_collection(std::move(collection)));
    }
    return put(foreign::smdebug_manifest_file(worker), foreign::encode_smdebug_manifest(manifest));
  }

  Status put(const std::string& path, std::string_view content) {
    return write_file(plan_.options.out / path, content, plan_.tally);
  }

  const TargetPlan plan_;
  const foreign::RecordFooter footer_;
  std::set<std::string, std::less<>> workers_;  // that have written a step, as smdebug calls them
  std::set<std::string, std::less<>> names_;    // tensors that were written

  // The step that is being written.
  WorkerStep step_;
  std::string worker_;
  foreign::SmdebugIndex index_;
  std::set<std::string, std::less<>> tags_;
  std::vector<foreign::TfPluginData> plugin_data_;
  std::unique_ptr<OutputFile> events_;
};

}  // namespace

Result<std::unique_ptr<TargetWriter>> open_smdebug_target(const TargetPlan& plan) {
  return std::unique_ptr<TargetWriter>(std::make_unique<SmdebugTarget>(plan));
}

}  // namespace trainwarden::transfer
