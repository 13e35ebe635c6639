#include "work/jobs/job_array.h"

#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "work/jobs/hyperparameters.h"
#include "work/jobs/spec_change.h"

namespace trainwarden::jobs {
namespace {

using document::DocumentValue;
using Kind = DocumentValue::Kind;

constexpr std::string_view kTo = "..";

bool is_number(std::string_view text) {
  return parse_double(text).has_value();
}

// "1..5", also "5..1" and "1..2.5", which are refused; "a..b" is a text.
bool looks_like_range(std::string_view text) {
  const std::size_t dots = text.find(kTo);
  return dots != std::string_view::npos && is_number(text.substr(0, dots)) && is_number(text.substr(dots + kTo.size()));
}

Result<std::vector<DocumentValue>> values_of_range(std::string_view text) {
  const std::size_t dots = text.find(kTo);
  const std::optional<std::int64_t> first = parse_int(text.substr(0, dots));
  const std::optional<std::int64_t> last = parse_int(text.substr(dots + kTo.size()));
  if (!first || !last) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("expected whole numbers in a range, as in 1..5, found \"{}\"; list other numbers one by one",
                    printable(text)));
  }
  if (*last < *first) {
    return Status(Code::kInvalidArgument,
                  fmt::format("expected a range that goes up, as in {}..{}, found \"{}\"", *last, *first, text));
  }
  std::vector<DocumentValue> values;
  // One too many is enough to be refused.
  for (std::int64_t value = *first; value <= *last && values.size() <= kMaxArrayJobs; ++value) {
    values.push_back(scalar_value(std::to_string(value)));
  }
  return values;
}

// Up to the next comma that is not within brackets: a value may be a list of its own, "[64,32]".
std::string_view first_of_list(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{') ++depth;
    if ((text[i] == ']' || text[i] == '}') && depth > 0) --depth;
    if (text[i] == ',' && depth == 0) return text.substr(0, i);
  }
  return text;
}

Result<std::vector<DocumentValue>> values_of_list(std::string_view text) {
  std::vector<DocumentValue> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::string_view value = first_of_list(text.substr(begin));
    if (looks_like_range(value)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("expected values or one range, found the range {} in a list", printable(value)));
    }
    values.push_back(scalar_value(value));
    begin += value.size() + 1;
  }
  return values;
}

Status in_axis(const std::string& name, const Status& status) {
  return Status(status.code(), fmt::format("array: {}: {}", printable(name), status.message()));
}

// Two jobs that are the same are a slip.
Status check_differ(const ArrayAxis& axis) {
  std::set<std::string> seen;
  for (const DocumentValue& value : axis.values) {
    if (const std::string text = argument_text(value); !seen.insert(text).second) {
      return in_axis(axis.name, Status(Code::kInvalidArgument, fmt::format("has {} twice", printable(text))));
    }
  }
  return Status();
}

}  // namespace

Result<ArrayAxis> parse_axis(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Assignment assignment, parse_assignment(text, "--array"));
  auto values = looks_like_range(assignment.text) ? values_of_range(assignment.text) : values_of_list(assignment.text);
  if (!values.ok()) return in_axis(assignment.name, values.status());
  return ArrayAxis{assignment.name, *std::move(values)};
}

std::vector<ArrayAxis> read_axes(const DocumentValue& table, document::Mistakes& mistakes) {
  std::vector<ArrayAxis> axes;
  for (const auto& [name, value] : table.fields) {
    if (value.is(Kind::kList) && !value.items.empty()) {
      axes.push_back({name, value.items});
    } else if (value.is(Kind::kText) && looks_like_range(value.text)) {
      auto range = values_of_range(value.text);
      if (range.ok()) {
        axes.push_back({name, *std::move(range)});
      } else {
        mistakes.add(value.place, in_axis(name, range.status()).message());
      }
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
    TRAINWARDEN_RETURN_IF_ERROR(check_differ(axis));
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
