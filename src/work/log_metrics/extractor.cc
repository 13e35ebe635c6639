#include "work/log_metrics/extractor.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "core/base/text.h"
#include "work/log_metrics/metric_value.h"

namespace trainwarden::log_metrics {
namespace {

constexpr double kMaxStep = 1e15;
constexpr std::int64_t kMaxBarStep = 1'000'000'000'000'000;
constexpr std::size_t kMaxValues = 64;  // of one record: more are no metrics, and a log is untrusted
constexpr std::size_t kMaxBars = 32;
constexpr std::size_t kMaxTitleBytes = 100;
constexpr std::string_view kRichTitle = "Epoch ";
constexpr std::int64_t kMaxRichTotal = 1'000'000'000;  // of epochs, and of steps in one

// Empty: the group took no part.
std::string_view group_text(std::string_view text, const std::optional<Regex::Span>& group) {
  return group ? group->in(text) : std::string_view();
}

Regex compiled(std::string_view expression) {
  Result<Regex> regex = Regex::compile(expression);
  assert(regex.ok());
  return *std::move(regex);
}

bool is_found(Regex::Outcome outcome) {
  return outcome == Regex::Outcome::kFound;
}

// Of Lightning's rich bar, "Epoch 2/9 ... 40/100", whose epochs count from 0.
std::int64_t step_of_epoch(std::string_view record, std::int64_t count, std::optional<std::int64_t> total) {
  const std::string_view title = record.substr(kRichTitle.size());
  const std::int64_t epoch = parse_int(title.substr(0, title.find('/'))).value_or(0);
  return total.value_or(0) <= kMaxRichTotal && epoch <= kMaxRichTotal ? epoch * total.value_or(0) + count : count;
}

}  // namespace

struct Extractor::Patterns {
  // "Epoch 3/10"; in newer ones the bar stands in the next line all the same.
  Regex keras_epoch = compiled(R"(^Epoch (\d{1,9})/\d+\s*$)");
  // "120/469 [====>...] - ", "469/469 ━━━━━━━━━━ 3s 5ms/step - "
  Regex keras_bar = compiled(R"(^\s*(\d{1,9})/(\d{1,9}|Unknown) [^-]*(?=- ))");
  Regex keras_item = compiled(R"((?:^|\s)- ([A-Za-z_][\w/.]*): (\S+)(?=\s|$))");

  Regex estimator_mark =
      compiled(R"((?i)(?:^|[\s:])(?:loss|global_step) = \S|^(?:INFO:tensorflow:)?global_step/sec: )");
  Regex estimator_item = compiled(R"((?:^|[\s:,])([A-Za-z_][\w/.]*)(?: = |/sec: )([^\s,]+))");

  Regex hugging_face_mark = compiled(R"(^\s*\{'[A-Za-z_][\w/.\- ]*': [^{\[]*\}\s*$)");
  Regex hugging_face_item = compiled(R"([{,]\s*'([^']{1,255})': '?([^',}]+)'?(?=\s*[,}]))");

  // The bar, with "45/100" (no step in "45.0k/100k") and what stands after the rate.
  Regex tqdm_bar = compiled(
      R"((?:^|\s|:)\d{1,3}%\|[^|]*\| *(?:(\d{1,15})|[\d.]+[kMG])/([^\s\[]+) \[[^,\]]*(?:, *[^,\]=]*)?([^\]]*)\])");
  Regex tqdm_item = compiled(R"(, *([A-Za-z_][\w/.\- ]*)=([^,\]]+))");
  // Lightning's rich bar, of which only the last state is in a file: "Epoch 0/9 ━━━━━━ 50/100 0:00:01 •
  // 0:00:01 45.2it/s v_num: 0.000 loss: 0.31".
  Regex rich_bar = compiled(R"(^Epoch \d+/\d+\s+\S+\s+(\d{1,15})/(\d+) \S+ • \S+ \S+it/s(.*)$)");
  Regex rich_item = compiled(R"( ([A-Za-z_][\w/.\-]*): (\S+))");

  static const Patterns& shared() {
    static const Patterns patterns;
    return patterns;
  }
};

std::string_view name(LogStyle style) {
  switch (style) {
    case LogStyle::kKeras: return "Keras";
    case LogStyle::kEstimator: return "tf.estimator";
    case LogStyle::kHuggingFace: return "Hugging Face";
    case LogStyle::kTqdm: return "tqdm";
  }
  return "";
}

Extractor::Extractor() : patterns_(Patterns::shared()) {}

std::optional<Extraction> Extractor::read(std::string_view record) {
  using Reader = std::optional<Extraction> (Extractor::*)(std::string_view);
  constexpr std::array<Reader, 4> kReaders = {&Extractor::read_tqdm, &Extractor::read_keras, &Extractor::read_estimator,
                                              &Extractor::read_hugging_face};
  for (const Reader reader : kReaders) {
    std::optional<Extraction> extraction = (this->*reader)(record);
    if (extraction && !extraction->values.empty()) return extraction;
  }
  return std::nullopt;
}

// Each item has a name and a value as its groups; what is no number is left out.
void Extractor::add_items(const Regex& item, std::string_view text, Extraction& extraction) {
  std::size_t from = 0;
  while (extraction.values.size() < kMaxValues && is_found(item.search(text, from, match_))) {
    from = std::max(match_.whole.end, match_.whole.begin + 1);
    const std::optional<double> value = parse_metric_value(group_text(text, match_.groups[1]));
    if (value) extraction.values.push_back({std::string(trim(group_text(text, match_.groups[0]))), *value});
  }
}

// Steps count from the beginning of the training where the epochs are named and their length is known.
std::optional<Extraction> Extractor::read_keras(std::string_view record) {
  if (is_found(patterns_.keras_epoch.search(record, 0, match_))) {
    keras_epoch_ = parse_int(group_text(record, match_.groups[0])).value_or(0);
    return std::nullopt;
  }
  if (!is_found(patterns_.keras_bar.search(record, 0, match_))) return std::nullopt;
  Extraction extraction{LogStyle::kKeras, {}, parse_int(group_text(record, match_.groups[0]))};
  const std::optional<std::int64_t> length = parse_int(group_text(record, match_.groups[1]));
  if (length && extraction.step && keras_epoch_ > 1) *extraction.step += (keras_epoch_ - 1) * *length;
  add_items(patterns_.keras_item, record, extraction);
  return extraction;
}

std::optional<Extraction> Extractor::read_estimator(std::string_view record) {
  if (!patterns_.estimator_mark.found_in(record)) return std::nullopt;
  Extraction extraction{LogStyle::kEstimator, {}, {}};
  add_items(patterns_.estimator_item, record, extraction);
  // The step is no metric. "global_step/sec" is one, and is called so.
  std::erase_if(extraction.values, [&](Extracted& one) {
    const std::string plain = lower(one.name);
    if (plain == "global_step" && record.find("global_step/sec: ") != std::string_view::npos) {
      one.name += "/sec";
      return false;
    }
    if (plain != "step" && plain != "global_step") return false;
    if (std::abs(one.value) < kMaxStep) extraction.step = static_cast<std::int64_t>(one.value);
    return true;
  });
  return extraction;
}

std::optional<Extraction> Extractor::read_hugging_face(std::string_view record) {
  if (!patterns_.hugging_face_mark.found_in(record)) return std::nullopt;
  Extraction extraction{LogStyle::kHuggingFace, {}, {}};
  add_items(patterns_.hugging_face_item, record, extraction);
  return extraction;
}

// Of bars beyond kMaxBars, and of those that are not titled alike, each has a count of its own.
std::int64_t Extractor::step_of_bar(std::string_view title, std::int64_t count, std::optional<std::int64_t> total) {
  std::string key(title.substr(0, kMaxTitleBytes));
  std::erase_if(key, [](char c) { return c >= '0' && c <= '9'; });
  if (bars_.size() >= kMaxBars && !bars_.contains(key)) return count;
  Bar& bar = bars_[key];
  if (count < bar.count) bar.before = std::min(bar.before + std::max(bar.count, bar.total), kMaxBarStep);
  bar.count = count;
  bar.total = std::min(total.value_or(0), kMaxBarStep);
  return bar.before + count;
}

std::optional<Extraction> Extractor::read_tqdm(std::string_view record) {
  const bool plain = is_found(patterns_.tqdm_bar.search(record, 0, match_));
  if (!plain && !is_found(patterns_.rich_bar.search(record, 0, match_))) return std::nullopt;
  Extraction extraction{LogStyle::kTqdm, {}, {}};
  const std::optional<std::int64_t> count = parse_int(group_text(record, match_.groups[0]));
  const std::optional<std::int64_t> total = parse_int(group_text(record, match_.groups[1]));
  if (count) {
    extraction.step =
        plain ? step_of_bar(record.substr(0, match_.whole.begin), *count, total) : step_of_epoch(record, *count, total);
  }
  const std::string_view items = group_text(record, match_.groups[2]);
  add_items(plain ? patterns_.tqdm_item : patterns_.rich_item, items, extraction);
  std::erase_if(extraction.values, [](const Extracted& one) { return one.name == "v_num"; });
  return extraction;
}

}  // namespace trainwarden::log_metrics
