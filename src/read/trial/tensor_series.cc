#include "read/trial/tensor_series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "read/trial/tensor_lookup.h"

namespace trainwarden::trial {
namespace {

using journal::RecordForm;
using Kind = SeriesNumber::Kind;
using Number = Result<std::optional<double>>;  // none: the forms that were kept do not give it

constexpr std::array<std::pair<Kind, std::string_view>, 4> kWords = {{{Kind::kScalar, "scalar"},
                                                                      {Kind::kNanCount, "nan_count"},
                                                                      {Kind::kInfCount, "inf_count"},
                                                                      {Kind::kZeroCount, "zero_count"}}};

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& [kind, word] : kWords) names.emplace_back(word);
  for (int i = 0; i < kReductionCount; ++i) {
    const std::string word(trainwarden::name(static_cast<Reduction>(i)));
    names.push_back(word);
    names.push_back("abs_" + word);
  }
  return names;
}

// The clock is asked once for so many steps.
constexpr std::size_t kStepsPerLook = 256;
// Memory is taken for so many: what the patience is long enough for, about.
constexpr std::size_t kPointsAtOnce = std::size_t{1} << 20;

double number_in(const Statistics& statistics, const SeriesNumber& number) {
  switch (number.kind) {
    case Kind::kNanCount: return static_cast<double>(statistics.nan_count);
    case Kind::kInfCount: return static_cast<double>(statistics.inf_count());
    case Kind::kZeroCount: return static_cast<double>(statistics.zero_count);
    case Kind::kScalar:
    case Kind::kReduction: break;
  }
  return statistics.reduction(number.reduction, number.abs);
}

double product_of(const std::vector<double>& elements, bool abs) {
  double product = 1;
  for (const double element : elements) product *= abs ? std::fabs(element) : element;
  return product;
}

double number_in(double scalar, const SeriesNumber& number) {
  if (number.kind == Kind::kScalar) return scalar;
  if (number.kind == Kind::kReduction && number.reduction == Reduction::kProd) return product_of({scalar}, number.abs);
  const auto statistics = compute_statistics(TensorView::of(&scalar, DType::kFloat64, Shape()));
  return number_in(statistics.value(), number);  // a double always has statistics
}

Number number_in_value(journal::JournalReader& reader, const journal::Record& record, const SeriesNumber& number) {
  if (number.kind == Kind::kScalar) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto type_and_shape, reader.read_shape(record));
    if (type_and_shape.second.element_count() != 1) return std::optional<double>();
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const TensorValue value, reader.read_value(record));
  if (value.dtype == DType::kString) return std::optional<double>();
  if (number.kind == Kind::kScalar) return std::optional(value.to_doubles().at(0));
  if (number.kind == Kind::kReduction && number.reduction == Reduction::kProd) {
    return std::optional(product_of(value.to_doubles(), number.abs));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics statistics, compute_statistics(value.view()));
  return std::optional(number_in(statistics, number));
}

Number saved_alone(journal::JournalReader& reader, const journal::Record& record, const SeriesNumber& number) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto saved, reader.read_reductions(record));
  const auto found = std::find_if(saved.begin(), saved.end(), [&](const SavedReduction& candidate) {
    return candidate.reduction == number.reduction && candidate.abs == number.abs;
  });
  return found == saved.end() ? std::optional<double>() : std::optional(found->value);
}

Number number_in_scalar(journal::JournalReader& reader, const journal::Record& record, const SeriesNumber& number) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const double scalar, reader.read_scalar(record));
  return std::optional(number_in(scalar, number));
}

const journal::Record* scalar_among(std::span<const journal::Record> records, std::uint32_t tensor) {
  const journal::Record* found = nullptr;
  for (const journal::Record& record : records) {
    if (record.tensor == tensor && record.form == RecordForm::kScalar) found = &record;
  }
  return found;
}

Number number_at(const Sighting& sighting, const SeriesNumber& number) {
  if (const auto& record = sighting.record(RecordForm::kReductions); record && number.kind == Kind::kReduction) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto saved, saved_alone(sighting.reader(), *record, number));
    if (saved) return saved;
  }
  const bool product = number.kind == Kind::kReduction && !in_statistics(number.reduction);
  if (const auto& record = sighting.record(RecordForm::kStatistics);
      record && number.kind != Kind::kScalar && !product) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const journal::StatisticsRow row, sighting.reader().read_statistics(*record));
    return std::optional(number_in(row.statistics, number));
  }
  if (const auto& record = sighting.record(RecordForm::kScalar)) {
    return number_in_scalar(sighting.reader(), *record, number);
  }
  if (const auto& record = sighting.record(RecordForm::kValue)) {
    return number_in_value(sighting.reader(), *record, number);
  }
  return std::optional<double>();
}

}  // namespace

Result<SeriesNumber> parse_series_number(std::string_view text) {
  for (const auto& [kind, word] : kWords) {
    if (text == word) return SeriesNumber{kind, Reduction::kMean, false};
  }
  const bool abs = text.starts_with("abs_");
  if (const auto reduction = parse_reduction(abs ? text.substr(4) : text)) {
    return SeriesNumber{Kind::kReduction, *reduction, abs};
  }
  const std::vector<std::string> names = all_names();
  return Status(Code::kInvalidArgument,
                fmt::format("there is no number \"{}\" of a tensor{}; there are {}", printable(text),
                            did_you_mean(text, names), fmt::join(names, ", ")));
}

std::string name(const SeriesNumber& number) {
  for (const auto& [kind, word] : kWords) {
    if (number.kind == kind) return std::string(word);
  }
  return (number.abs ? "abs_" : "") + std::string(trainwarden::name(number.reduction));
}

Result<SeriesPart> read_series(WorkerJournal& journal, std::uint32_t tensor, const SeriesNumber& number,
                               std::size_t first, std::int64_t last_step, std::chrono::nanoseconds patience) {
  return no_throw([&]() -> Result<SeriesPart> {
    const std::int64_t deadline_ns = system_clock().steady_ns() + patience.count();
    const std::span<const Posting> all = journal.tensor_index().of(tensor);
    const auto begin = std::lower_bound(all.begin(), all.end(), first,
                                        [](const Posting& p, std::size_t index) { return p.step_index < index; });
    const std::span<const Posting> postings(begin, all.end());
    SeriesPart part;
    part.next = first;
    make_room(part.points, std::min(postings.size(), kPointsAtOnce));
    std::size_t taken = 0;
    for (; taken < postings.size(); ++taken) {
      if (taken % kStepsPerLook == kStepsPerLook - 1 && system_clock().steady_ns() >= deadline_ns) break;
      const std::uint32_t index = postings[taken].step_index;
      const journal::StepEntry& step = journal.reader().steps()[index];
      if (step.global_step > last_step) break;
      part.next = index + 1;
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto records, journal.reader().records(index));
      const journal::Record* const scalar = number.kind == Kind::kScalar ? scalar_among(records, tensor) : nullptr;
      const Number value = scalar != nullptr ? number_in_scalar(journal.reader(), *scalar, number)
                                             : number_at(Sighting(journal, tensor, records), number);
      if (!value.ok() && value.status().code() != Code::kDataLoss) return value.status();
      if (!value.ok()) ++part.unreadable;
      if (!value.ok() || !*value) continue;
      part.points.push_back({step.global_step, journal.reader().unix_ns(index), step.mode, **value});
    }
    part.left = postings.size() - taken;
    return part;
  });
}

}  // namespace trainwarden::trial
