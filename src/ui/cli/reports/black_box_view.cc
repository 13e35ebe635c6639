#include "ui/cli/reports/black_box_view.h"

#include <cstdint>

#include <fmt/format.h>

#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

// Of a document that anybody may have written: what is not as expected is shown as nothing.
std::string text_of(const OrderedJson& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string number_of(const OrderedJson& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_number_integer() ? found->dump() : "?";
}

OrderedJson array_of(const OrderedJson& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_array() ? *found : OrderedJson::array();
}

std::string why_text(const OrderedJson& replay) {
  if (replay.contains("error")) return text_of(replay, "error");
  return replay.contains("why") ? text_of(replay["why"], "message") : "";
}

// "17-20"; with what is missing of them.
std::string steps_text(const OrderedJson& replay) {
  const OrderedJson steps = array_of(replay, "steps");
  if (steps.empty()) return "";
  std::uint64_t missing = 0;
  for (const OrderedJson& step : steps) missing += step.value("missing_tensors", std::uint64_t{0});
  return fmt::format("{}-{}{}", number_of(steps.front(), "global_step"), number_of(steps.back(), "global_step"),
                     missing == 0 ? "" : fmt::format(", {} tensors missing", missing));
}

std::string batch_text(const OrderedJson& batch) {
  const std::size_t samples = array_of(batch, "indices").size();
  if (!batch.contains("number")) {
    return samples == 0 ? fmt::format("of step {}", number_of(batch, "global_step"))
                        : fmt::format("{} samples", samples);
  }
  return fmt::format("epoch {} batch {} ({} samples)", number_of(batch, "epoch"), number_of(batch, "number"), samples);
}

std::string skip_text(const OrderedJson& replay) {
  const OrderedJson batches = array_of(replay, "skip");
  if (!batches.empty()) return batch_text(batches.front());
  return fmt::format("step {} is not held any more", number_of(replay, "failing_step"));
}

}  // namespace

OrderedJson json_of(const views::BlackBoxDump& dump) {
  OrderedJson json = {{"path", dump.path}};
  json.update(dump.replay);
  return json;
}

void print_black_boxes(std::FILE* out, const std::vector<views::BlackBoxDump>& dumps) {
  if (dumps.empty()) return;
  Table table({{"BLACK BOX"}, {"WHY"}, {"STEPS"}, {"BATCH TO SKIP"}});
  for (const views::BlackBoxDump& dump : dumps) {
    table.add_row({dump.path, why_text(dump.replay), steps_text(dump.replay), skip_text(dump.replay)});
  }
  emit(out, "\n{}", Lines{table.to_string()});
}

}  // namespace trainwarden::cli
