// tensorboard: event files, one TensorBoard run for each mode (and each worker but the first). docs/reference/export.md
// says under which tags things are shown.
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/regex.h"
#include "data/foreign/smdebug_layout.h"
#include "data/foreign/tf_event.h"
#include "data/foreign/tf_record.h"
#include "read/transfer/board_histogram.h"
#include "read/transfer/picture.h"
#include "read/transfer/statistics_fields.h"
#include "read/transfer/target_writer.h"

namespace trainwarden::transfer {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// What is drawn of statistics.
constexpr std::array<std::pair<Reduction, bool>, 6> kDrawn = {{{Reduction::kMean, false},
                                                               {Reduction::kStd, false},
                                                               {Reduction::kMin, false},
                                                               {Reduction::kMax, false},
                                                               {Reduction::kMean, true},
                                                               {Reduction::kL2, false}}};

// An event file that TensorBoard may read while it grows.
class EventFile {
 public:
  // A new file: TensorBoard reads all of a folder, in the order of their names.
  static Result<std::unique_ptr<EventFile>> create(const std::filesystem::path& folder, OutputTally& tally) {
    const std::int64_t now_s = system_clock().unix_ns() / kNsPerSecond;
    for (int number = 0;; ++number) {
      const std::string file = fmt::format("events.out.tfevents.{}.trainwarden.{:04}", now_s, number);
      auto created = OutputFile::create_growing(folder / file, tally);
      if (!created.ok() && created.status().code() == Code::kAlreadyExists) continue;
      if (!created.ok()) return created.status();
      auto events = std::unique_ptr<EventFile>(new EventFile(*std::move(created)));
      foreign::TfEvent first;
      first.wall_time_s = static_cast<double>(now_s);
      first.file_version = "brain.Event:2";
      TRAINWARDEN_RETURN_IF_ERROR(events->add(first));
      return events;
    }
  }

  Status add(const foreign::TfEvent& event) {
    foreign::append_record(records_, as_bytes(foreign::encode_event(event)), foreign::RecordFooter::kPayloadCrc);
    return records_.size() < kBufferBytes ? Status() : flush();
  }

  Status flush() {
    Status status = file_->append(records_);
    records_.clear();
    return status;
  }

 private:
  explicit EventFile(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}

  const std::unique_ptr<OutputFile> file_;
  std::string records_;  // not yet in the file
};

class TensorBoardTarget final : public TargetWriter {
 public:
  TensorBoardTarget(const TargetPlan& plan, RegexSet images) : plan_(plan), images_(std::move(images)) {}

  Status begin_step(const WorkerStep& step) override {
    step_ = step;
    tags_.clear();
    const std::vector<std::string> workers = plan_.trial.workers();
    std::string folder(name(step.mode));
    if (step.worker != workers.front()) folder = foreign::serialise_worker(step.worker) + "/" + folder;
    auto& file = files_[folder];
    if (file == nullptr) {
      TRAINWARDEN_ASSIGN_OR_RETURN(file, EventFile::create(plan_.options.out / folder, plan_.tally));
    }
    events_ = file.get();
    return {};
  }

  Status write_value(std::string_view tensor, const SharedTensorValue& value) override {
    const TensorView& view = value.view;
    if (view.dtype == DType::kString) return add_text(tensor, view);
    if (view.element_count() == 0) {
      plan_.notes.lost("empty tensors", tensor);
      return {};
    }
    if (is_complex(view.dtype)) {
      plan_.notes.lost("complex tensors", tensor);
      return {};
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics statistics, compute_statistics(view, {.histogram = true}));
    if (view.element_count() == 1) {
      TRAINWARDEN_RETURN_IF_ERROR(write_scalar(tensor, statistics.reduction(Reduction::kMax)));
    } else {
      plan_.notes.changed("values of tensors as histograms", tensor);
      TRAINWARDEN_RETURN_IF_ERROR(add_histogram(tensor, statistics));
    }
    return images_.found_in(tensor) ? add_image(tensor, view) : Status();
  }

  Status write_scalar(std::string_view tensor, double value) override {
    const auto shown = static_cast<float>(value);
    const bool rounded = static_cast<double>(shown) != value && value == value;
    if (rounded) plan_.notes.changed("numbers rounded to float32", tensor);
    foreign::TfValue scalar;
    scalar.tag = tensor;
    scalar.simple_value = shown;
    return add(std::move(scalar));
  }

  Status write_statistics(std::string_view tensor, const format::StatisticsRow& row) override {
    const Statistics& statistics = row.statistics;
    for (const auto& [reduction, abs] : kDrawn) {
      TRAINWARDEN_RETURN_IF_ERROR(add_number(tensor, field_name(reduction, abs), statistics.reduction(reduction, abs)));
    }
    for (const auto& [count_name, count] : counts_of(statistics)) {
      if (count_name == "count") continue;
      TRAINWARDEN_RETURN_IF_ERROR(add_number(tensor, count_name, static_cast<double>(count)));
    }
    plan_.notes.lost("reductions that are not drawn", tensor, kStatisticsReductionCount * 2 - kDrawn.size());
    if (statistics.has_hash) plan_.notes.lost("hashes", tensor);
    return statistics.has_histogram ? add_histogram(tensor, statistics) : Status();
  }

  Status write_reductions(std::string_view tensor, std::span<const SavedReduction> reductions) override {
    for (const SavedReduction& saved : reductions) {
      TRAINWARDEN_RETURN_IF_ERROR(add_number(tensor, field_name(saved.reduction, saved.abs), saved.value));
    }
    return {};
  }

  Status write_shape(std::string_view tensor, DType, const Shape&) override {
    plan_.notes.lost("shapes without values", tensor);
    return {};
  }

  Status end_step() override { return events_->flush(); }
  Status finish(bool) override { return {}; }

 private:
  Status add_number(std::string_view tensor, std::string_view quantity, double value) {
    return write_scalar(fmt::format("stats/{}/{}", tensor, quantity), value);
  }

  // The value's and the statistics' are the same: one is enough.
  Status add_histogram(std::string_view tensor, const Statistics& statistics) {
    if (tags_.count(tensor) > 0) return {};
    const std::uint64_t not_finite = statistics.nan_count + statistics.inf_count();
    plan_.notes.lost("NaN and infinite elements of histograms", tensor, not_finite);
    if (statistics.finite_count() == 0) return {};
    foreign::TfValue value;
    value.tag = tensor;
    value.histogram = board_histogram(statistics);
    return add(std::move(value));
  }

  Status add_image(std::string_view tensor, const TensorView& view) {
    const auto picture = picture_of(view);
    if (!picture) {
      plan_.notes.lost("images of tensors that are none, or too large", tensor);
      return {};
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(std::string png, encode_png(*picture));
    foreign::TfValue value;
    value.tag = fmt::format("images/{}", tensor);
    value.image = foreign::TfImage{picture->height, picture->width, picture->channels, std::move(png)};
    return add(std::move(value));
  }

  Status add_text(std::string_view tensor, const TensorView& view) {
    const auto* texts = static_cast<const std::string_view*>(view.data);
    foreign::TfValue value;
    value.tag = tensor;
    value.tensor = TensorValue{DType::kString, view.shape, {}, {texts, texts + view.element_count()}};
    value.plugin_data = {{"text", ""}};
    return add(std::move(value));
  }

  Status add(foreign::TfValue value) {
    if (!tags_.insert(value.tag).second) {
      plan_.notes.lost(kTwiceUnderOneName, value.tag);
      return {};
    }
    foreign::TfEvent event;
    event.wall_time_s = static_cast<double>(step_.unix_ns) / static_cast<double>(kNsPerSecond);
    event.step = step_.global_step;
    event.values.push_back(std::move(value));
    return events_->add(event);
  }

  const TargetPlan plan_;
  const RegexSet images_;
  std::map<std::string, std::unique_ptr<EventFile>> files_;  // by folder

  WorkerStep step_;  // that is being written
  EventFile* events_ = nullptr;
  std::set<std::string, std::less<>> tags_;  // of this step
};

}  // namespace

Result<std::unique_ptr<TargetWriter>> open_tensorboard_target(const TargetPlan& plan) {
  TRAINWARDEN_ASSIGN_OR_RETURN(RegexSet images, RegexSet::compile(plan.options.images));
  return std::unique_ptr<TargetWriter>(std::make_unique<TensorBoardTarget>(plan, std::move(images)));
}

}  // namespace trainwarden::transfer
