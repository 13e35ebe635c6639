// mcap: a message for each record, which is the record of a json export; a channel for each worker, form and tensor.
// Then the workers' events.
#include <array>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/foreign/mcap.h"
#include "data/format/json.h"
#include "data/format/name_escape.h"
#include "read/transfer/mcap_schemas.h"
#include "read/transfer/number_text.h"
#include "read/transfer/record_json.h"
#include "read/transfer/target_writer.h"
#include "read/trial/trial_access.h"
#include "trainwarden/version.h"

namespace trainwarden::transfer {
namespace {

constexpr std::int64_t kMaxMcapElements = 4096;  // of a value: a message is text, and is read whole
constexpr std::size_t kPassOnBytes = std::size_t{1} << 20;

class McapTarget final : public TargetWriter {
 public:
  McapTarget(std::unique_ptr<OutputFile> file, const TargetPlan& plan)
      : plan_(plan),
        file_(std::move(file)),
        mcap_(fmt::format("trainwarden {}", version())),
        record_(message_, plan.notes) {}

  Status begin_step(const WorkerStep& step) override {
    step_ = step;
    record_.begin_step(step);
    return {};
  }

  Status write_value(std::string_view tensor, const SharedTensorValue& value) override {
    const std::int64_t count = value.view.element_count();
    if (count > kMaxMcapElements) {
      plan_.notes.lost(fmt::format("values of more than {} elements; npz and safetensors hold them", kMaxMcapElements),
                       tensor);
      return {};
    }
    record_.begin_value(tensor, value.view);
    for (std::int64_t i = 0; i < count; ++i) record_.add_element(tensor, value.view, i);
    record_.end_value();
    return send(McapForm::kValue, tensor);
  }

  Status write_scalar(std::string_view tensor, double value) override {
    record_.add_scalar(tensor, value);
    return send(McapForm::kScalar, tensor);
  }

  Status write_statistics(std::string_view tensor, const format::StatisticsRow& row) override {
    record_.add_statistics(tensor, row);
    return send(McapForm::kStatistics, tensor);
  }

  Status write_reductions(std::string_view tensor, std::span<const SavedReduction> reductions) override {
    record_.add_reductions(tensor, reductions);
    return send(McapForm::kReductions, tensor);
  }

  Status write_shape(std::string_view tensor, DType dtype, const Shape& shape) override {
    record_.add_shape(tensor, dtype, shape);
    return send(McapForm::kShape, tensor);
  }

  Status end_step() override { return {}; }

  Status finish(bool run_ended) override {
    if (wants_events()) TRAINWARDEN_RETURN_IF_ERROR(write_events());
    mcap_.add_metadata("trainwarden.run", run_words(run_ended));
    mcap_.finish();
    TRAINWARDEN_RETURN_IF_ERROR(pass_on());
    return file_->commit();
  }

 private:
  // The message that was written, on the channel of its worker, form and tensor.
  Status send(McapForm form, std::string_view tensor) {
    const std::string topic =
        fmt::format("/{}/{}/{}", format::escape_name(step_.worker), name(form), format::escape_name(tensor));
    return send_on(topic, form, tensor, step_.unix_ns);
  }

  Status send_on(const std::string& topic, McapForm form, std::string_view what, std::int64_t unix_ns) {
    const std::optional<std::uint16_t> channel = channel_of(topic, form);
    if (channel) {
      mcap_.add_message(*channel, unix_ns, message_);
    } else {
      plan_.notes.lost(
          fmt::format("of more than {} channels, which the format cannot number", foreign::McapEncoder::kMaxChannels),
          what);
    }
    message_.clear();
    return mcap_.out.size() < kPassOnBytes ? Status() : pass_on();
  }

  std::optional<std::uint16_t> channel_of(const std::string& topic, McapForm form) {
    const auto known = channels_.find(topic);
    if (known != channels_.end()) return known->second;
    std::optional<std::uint16_t>& schema = schemas_[static_cast<std::size_t>(form)];
    if (!schema) schema = mcap_.add_schema(schema_name(form), schema_text(form));
    const auto channel = mcap_.add_channel(*schema, topic);
    if (channel) channels_.emplace(topic, *channel);
    return channel;
  }

  // They tell of the run as a whole, in texts.
  bool wants_events() const { return plan_.options.texts && plan_.options.choice == ExportChoice{}; }

  Status write_events() {
    Status status;
    TrialAccess::visit_events(plan_.trial, [&](const std::string& worker, const journal::EventEntry& event) {
      if (!status.ok()) return;
      const auto parsed = format::parse_json_object(event.json, "an event");
      if (!parsed.ok()) return plan_.notes.lost("events that cannot be read", worker);
      message_ =
          fmt::format(R"({{"step":{},"unix_ns":{},"worker":{},"kind":"{}","event":{}}})", event.step, event.unix_ns,
                      json_text(worker), format::name(event.kind), format::dump_json(format::OrderedJson(*parsed)));
      const std::string topic =
          fmt::format("/{}/{}/{}", format::escape_name(worker), name(McapForm::kEvent), format::name(event.kind));
      status = send_on(topic, McapForm::kEvent, worker, event.unix_ns);
    });
    return status;
  }

  std::map<std::string, std::string> run_words(bool run_ended) const {
    const journal::RunInfo& run = TrialAccess::run_info(plan_.trial);
    std::map<std::string, std::string> words = {{"id", run.id},
                                                {"recorder", std::string(plan_.trial.recorder())},
                                                {"created_unix_ns", fmt::to_string(run.created_unix_ns)},
                                                {"world_size", fmt::to_string(run.world_size)},
                                                {"run_ended", run_ended ? "true" : "false"}};
    if (!plan_.options.texts) return words;
    words.emplace("path", with_valid_utf8(plan_.trial.path().string()));
    for (const auto& [key, value] : run.labels) words.emplace(with_valid_utf8("label:" + key), with_valid_utf8(value));
    return words;
  }

  Status pass_on() {
    TRAINWARDEN_RETURN_IF_ERROR(file_->append(mcap_.out));
    mcap_.out.clear();
    return {};
  }

  const TargetPlan plan_;
  const std::unique_ptr<OutputFile> file_;
  foreign::McapEncoder mcap_;
  std::string message_;  // that is being written
  RecordJson record_;
  WorkerStep step_;
  std::unordered_map<std::string, std::uint16_t> channels_;  // by topic
  std::array<std::optional<std::uint16_t>, kMcapForms> schemas_;
};

}  // namespace

Result<std::unique_ptr<TargetWriter>> open_mcap_target(const TargetPlan& plan) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto file, OutputFile::create(plan.options.out, plan.tally));
  return std::unique_ptr<TargetWriter>(std::make_unique<McapTarget>(std::move(file), plan));
}

}  // namespace trainwarden::transfer
