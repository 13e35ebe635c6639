// json: one document, one record a line. docs/reference/export.md has its keys.
#include <fmt/format.h>

#include "data/format/json.h"
#include "read/transfer/record_json.h"
#include "read/transfer/target_writer.h"
#include "read/transfer/text_file.h"
#include "read/trial/trial_access.h"

namespace trainwarden::transfer {
namespace {

class JsonTarget final : public TargetWriter {
 public:
  JsonTarget(std::unique_ptr<OutputFile> file, const TargetPlan& plan)
      : out_(std::move(file)), record_(out_.text, plan.notes) {
    const journal::RunInfo& run = TrialAccess::run_info(plan.trial);
    out_.text =
        fmt::format("{{\"format\":\"trainwarden-export\",\"version\":1,\n\"run\":{},\n\"records\":[",
                    format::dump_json({{"id", run.id},
                                       {"path", plan.options.texts ? plan.trial.path().string() : ""},
                                       {"recorder", plan.trial.recorder()},
                                       {"created_unix_ns", run.created_unix_ns},
                                       {"world_size", run.world_size},
                                       {"labels", plan.options.texts ? run.labels : journal::RunInfo().labels}}));
  }

  Status begin_step(const WorkerStep& step) override {
    record_.begin_step(step);
    return {};
  }

  Status write_value(std::string_view tensor, const SharedTensorValue& value) override {
    begin_line();
    record_.begin_value(tensor, value.view);
    const std::int64_t count = value.view.element_count();
    for (std::int64_t i = 0; i < count; ++i) {
      record_.add_element(tensor, value.view, i);
      TRAINWARDEN_RETURN_IF_ERROR(out_.pass_on_when_large());
    }
    record_.end_value();
    return {};
  }

  Status write_scalar(std::string_view tensor, double value) override {
    begin_line();
    record_.add_scalar(tensor, value);
    return out_.pass_on_when_large();
  }

  Status write_statistics(std::string_view tensor, const format::StatisticsRow& row) override {
    begin_line();
    record_.add_statistics(tensor, row);
    return out_.pass_on_when_large();
  }

  Status write_reductions(std::string_view tensor, std::span<const SavedReduction> reductions) override {
    begin_line();
    record_.add_reductions(tensor, reductions);
    return out_.pass_on_when_large();
  }

  Status write_shape(std::string_view tensor, DType dtype, const Shape& shape) override {
    begin_line();
    record_.add_shape(tensor, dtype, shape);
    return out_.pass_on_when_large();
  }

  Status end_step() override { return {}; }

  Status finish(bool run_ended) override {
    out_.text += fmt::format("\n],\n\"run_ended\":{}}}\n", run_ended);
    return out_.commit();
  }

 private:
  void begin_line() {
    out_.text += first_ ? "\n" : ",\n";
    first_ = false;
  }

  TextFile out_;
  RecordJson record_;
  bool first_ = true;
};

}  // namespace

Result<std::unique_ptr<TargetWriter>> open_json_target(const TargetPlan& plan) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto file, OutputFile::create(plan.options.out, plan.tally));
  return std::unique_ptr<TargetWriter>(std::make_unique<JsonTarget>(std::move(file), plan));
}

}  // namespace trainwarden::transfer
