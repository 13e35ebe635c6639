#include "ui/cli/reports/needs_view.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

constexpr std::size_t kElements = std::size_t{1} << 20;
constexpr std::uint64_t kStatisticsRowBytes = 160;  // of a float32 tensor, about; docs/format/records.md

// The best of a few, since what disturbs only ever adds.
double ns_per_element(const std::function<void()>& work) {
  constexpr int kTrials = 5;
  double best = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    best = i == 0 ? spent.count() : std::min(best, spent.count());
  }
  return best / static_cast<double>(kElements);
}

// Values as gradients have them: of all signs and many magnitudes.
std::vector<float> sample() {
  std::vector<float> values(kElements);
  std::uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = (static_cast<float>(state >> 8) / 8388608.0F - 1.0F) * 1e-3F;
  }
  return values;
}

std::string form_text(const KeepForm& keep) {
  std::vector<std::string_view> forms;
  if (keep.values) forms.emplace_back("values");
  if (keep.any_statistics()) forms.emplace_back("statistics");
  if (keep.histogram) forms.emplace_back("histogram");
  if (keep.hash) forms.emplace_back("hash");
  if (keep.shape) forms.emplace_back("shape");
  return fmt::format("{}", fmt::join(forms, ", "));
}

const SaveSchedule& schedule_of(const rules::CaptureNeed& need) {
  static const SaveSchedule kDefault;
  const auto& save = need.collection.save;
  return save && (*save)[Mode::kTrain] ? *(*save)[Mode::kTrain] : kDefault;
}

std::string interval_text(const SaveSchedule& schedule) {
  std::string text = schedule.save_interval == 1 ? "every step" : fmt::format("every {} steps", schedule.save_interval);
  if (schedule.end_step) text += fmt::format(" up to {}", *schedule.end_step);
  return text;
}

double ns_of_element(const KeepForm& keep, const CaptureSpeed& speed) {
  double ns = 0;
  if (keep.values) ns += speed.values_ns;
  if (keep.any_statistics()) ns += speed.statistics_ns;
  if (keep.histogram) ns += speed.histogram_ns;
  if (keep.hash) ns += speed.hash_ns;
  return ns;
}

std::vector<std::string> tensors_of(const rules::CaptureNeed& need, Trial& trial) {
  TensorQuery query{.include = need.collection.include};
  if (query.include.empty()) query.collection = need.collection.name;
  return trial.tensor_names(query).value_or({});
}

void measure_on(Trial& trial, const CaptureSpeed& speed, NeedCost& cost) {
  const KeepForm keep = cost.need.collection.keep.value_or(KeepForm());
  const auto interval = static_cast<double>(schedule_of(cost.need).save_interval);
  double bytes = 0;
  for (const std::string& tensor : tensors_of(cost.need, trial)) {
    const auto info = trial.tensor_info(tensor);
    if (!info.ok() || !info->has_shape) continue;
    const auto elements = static_cast<std::uint64_t>(info->shape.element_count());
    ++cost.tensors;
    cost.elements += elements;
    if (keep.values) bytes += static_cast<double>(elements * item_bytes(info->dtype));
    if (keep.any_statistics()) bytes += static_cast<double>(kStatisticsRowBytes);
  }
  cost.known = cost.tensors > 0;
  cost.ns_per_step = static_cast<double>(cost.elements) * ns_of_element(keep, speed) / interval;
  cost.bytes_per_step = bytes / interval;
}

}  // namespace

CaptureSpeed measure_capture_speed() {
  const std::vector<float> values = sample();
  std::vector<float> copy(kElements);
  const TensorView view = TensorView::of(values.data(), DType::kFloat32, Shape({static_cast<std::int64_t>(kElements)}));
  const auto statistics = [&](const StatisticsOptions& options) {
    return ns_per_element([&] { (void)compute_statistics(view, options); });
  };
  CaptureSpeed speed;
  speed.statistics_ns = statistics({});
  speed.histogram_ns = std::max(0.0, statistics({.histogram = true}) - speed.statistics_ns);
  speed.hash_ns = std::max(0.0, statistics({.hash = true}) - speed.statistics_ns);
  speed.values_ns = ns_per_element([&] { std::memcpy(copy.data(), values.data(), kElements * sizeof(float)); });
  return speed;
}

std::vector<NeedCost> cost_of_needs(std::span<const rules::CaptureNeed> needs, const CaptureSpeed& speed,
                                    Trial* trial) {
  std::vector<NeedCost> costs;
  for (const rules::CaptureNeed& need : needs) {
    NeedCost& cost = costs.emplace_back();
    cost.need = need;
    if (trial != nullptr) measure_on(*trial, speed, cost);
  }
  return costs;
}

void print_needs(const std::vector<NeedCost>& costs, const CaptureSpeed& speed, bool with_run) {
  std::vector<Column> columns = {{"COLLECTION"}, {"WHEN"}, {"FORM"}};
  if (with_run) {
    columns.insert(columns.end(), {{"TENSORS", Align::kRight},
                                   {"ELEMENTS", Align::kRight},
                                   {"TIME/STEP", Align::kRight},
                                   {"BYTES/STEP", Align::kRight}});
  }
  columns.push_back({"FOR"});
  Table table(columns);
  double ns = 0;
  double bytes = 0;
  for (const NeedCost& cost : costs) {
    std::vector<std::string> cells = {printable(cost.need.collection.name), interval_text(schedule_of(cost.need)),
                                      form_text(cost.need.collection.keep.value_or(KeepForm()))};
    if (with_run && cost.known) {
      cells.insert(cells.end(), {std::to_string(cost.tensors), std::to_string(cost.elements),
                                 format_duration_ns(static_cast<std::int64_t>(cost.ns_per_step)),
                                 format_bytes(static_cast<std::uint64_t>(cost.bytes_per_step))});
    } else if (with_run) {
      cells.insert(cells.end(), {"-", "-", "-", "-"});
    }
    cells.push_back(printable(fmt::format("{}", fmt::join(cost.need.rule_ids, ", "))));
    table.add_row(std::move(cells));
    ns += cost.ns_per_step;
    bytes += cost.bytes_per_step;
  }
  if (costs.empty()) return emit("These rules need nothing but losses and scalars, which are always kept.\n");
  emit("{}\n", Lines{table.to_string()});
  emit(
      "On this machine a million elements take {:.2f} ms for statistics, {:.2f} ms more for a histogram, {:.2f} ms "
      "more for a hash, {:.2f} ms to copy.\n",
      speed.statistics_ns, speed.histogram_ns, speed.hash_ns, speed.values_ns);
  if (with_run) {
    emit("At most {} and {} a step, on one thread; what several rules need is paid once.\n",
         format_duration_ns(static_cast<std::int64_t>(ns)), format_bytes(static_cast<std::uint64_t>(bytes)));
  } else {
    emit("With --on RUN, a recorded run of the same program, this says what it comes to there.\n");
  }
}

OrderedJson json_of(const std::vector<NeedCost>& costs, const CaptureSpeed& speed) {
  OrderedJson needs = OrderedJson::array();
  for (const NeedCost& cost : costs) {
    const SaveSchedule& schedule = schedule_of(cost.need);
    const KeepForm keep = cost.need.collection.keep.value_or(KeepForm());
    OrderedJson need = {{"collection", cost.need.collection.name},
                        {"include", cost.need.collection.include},
                        {"save_interval", schedule.save_interval},
                        {"keep", form_text(keep)},
                        {"rules", cost.need.rule_ids}};
    if (schedule.end_step) need["end_step"] = *schedule.end_step;
    if (cost.known) {
      need["tensors"] = cost.tensors;
      need["elements"] = cost.elements;
      need["ns_per_step"] = cost.ns_per_step;
      need["bytes_per_step"] = cost.bytes_per_step;
    }
    needs.push_back(std::move(need));
  }
  return {{"needs", std::move(needs)},
          {"ns_per_element",
           {{"statistics", speed.statistics_ns},
            {"histogram", speed.histogram_ns},
            {"hash", speed.hash_ns},
            {"values", speed.values_ns}}}};
}

}  // namespace trainwarden::cli
