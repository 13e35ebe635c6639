#include "work/jobs/job_array.h"

#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "work/jobs/spec_change.h"

namespace trainwarden::jobs {
namespace {

using document::DocumentValue;
using Kind = DocumentValue::Kind;

constexpr std::string_view kTo = "..";

// Of "1..5"; nothing when the text is no range.
std::optional<std::vector<DocumentValue>> values_of_range(std::string_view text) {
  const std::size_t dots = text.find(kTo);
  if (dots == std::string_view::npos) return std::nullopt;
  const std::optional<std::int64_t> first = parse_int(text.substr(0, dots));
  const std::optional<std::int64_t> last = parse_int(text.substr(dots + kTo.size()));
  if (!first || !last || *last < *first) return std::nullopt;
  std::vector<DocumentValue> values;
  // One too many is enough to be refused.
  for (std::int64_t value = *first; value <= *last && values.size() <= kMaxArrayJobs; ++value) {
    values.push_back(scalar_value(std::to_string(value)));
  }
  return values;
}

std::vector<DocumentValue> values_of_list(std::string_view text) {
  std::vector<DocumentValue> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(scalar_value(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return values;
}

}  // namespace

Result<ArrayAxis> parse_axis(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Assignment assignment, parse_assignment(text, "--array"));
  if (auto range = values_of_range(assignment.text)) return ArrayAxis{assignment.name, *std::move(range)};
  return ArrayAxis{assignment.name, values_of_list(assignment.text)};
}

std::vector<ArrayAxis> read_axes(const DocumentValue& table, document::Mistakes& mistakes) {
  std::vector<ArrayAxis> axes;
  for (const auto& [name, value] : table.fields) {
    if (value.is(Kind::kList) && !value.items.empty()) {
      axes.push_back({name, value.items});
    } else if (auto range = value.is(Kind::kText) ? values_of_range(value.text) : std::nullopt) {
      axes.push_back({name, *std::move(range)});
    } else {
      mistakes.add(value.place, fmt::format("array: {}: expected a list of values, or whole numbers as in \"1..5\"",
                                            printable(name)));
    }
  }
  if (const auto points = points_of(axes); !points.ok()) mistakes.add(table.place, points.status().message());
  return axes;
}

Result<std::vector<ArrayPoint>> points_of(const std::vector<ArrayAxis>& axes) {
  std::vector<ArrayPoint> points = {{}};
  for (const ArrayAxis& axis : axes) {
    if (points.front().contains(axis.name)) {
      return Status(Code::kInvalidArgument, fmt::format("array: {} is there twice", printable(axis.name)));
    }
    if (points.size() * axis.values.size() > kMaxArrayJobs) {
      return Status(Code::kInvalidArgument, fmt::format("array: expected {} jobs at most, found more", kMaxArrayJobs));
    }
    std::vector<ArrayPoint> more;
    for (const ArrayPoint& point : points) {
      for (const DocumentValue& value : axis.values) {
        more.push_back(point);
        more.back()[axis.name] = value;
      }
    }
    points = std::move(more);
  }
  return points;
}

std::string name_in_array(std::string_view array, std::size_t index) {
  return fmt::format("{}-{}", array, index);
}

}  // namespace trainwarden::jobs
