#include "react/match/clause_parser.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "react/match/case_folding.h"

namespace trainwarden::match {
namespace {

using MaybeClause = std::optional<Clause>;
constexpr std::nullopt_t kWrong = std::nullopt;

constexpr const char* kOperators =
    "an operator (prefix, suffix, equals-ignore-case, wildcard, anything-but, numeric, exists, cidr, exactly)";

Clause glob_clause(std::vector<std::string> parts, bool fold) {
  Clause clause;
  clause.kind = ClauseKind::kGlob;
  clause.glob.fold_case = fold;
  for (std::string& part : parts) {
    if (fold) {
      std::string folded;
      fold_case(part, folded);
      part = std::move(folded);
    }
    clause.glob.parts.push_back(std::move(part));
  }
  return clause;
}

Clause exact_text(std::string text) {
  return glob_clause({std::move(text)}, false);
}
Clause folded_text(std::string text) {
  return glob_clause({std::move(text)}, true);
}
Clause prefix_of(std::string text, bool fold) {
  return glob_clause({std::move(text), ""}, fold);
}
Clause suffix_of(std::string text, bool fold) {
  return glob_clause({"", std::move(text)}, fold);
}

Clause number_clause(NumberRange range) {
  Clause clause;
  clause.kind = ClauseKind::kNumber;
  clause.number = range;
  return clause;
}

Clause exact_number(double number) {
  return number_clause({number, number, false, false});
}

Clause plain_clause(ClauseKind kind) {
  Clause clause;
  clause.kind = kind;
  return clause;
}

Clause anything_but(std::vector<Clause> excluded) {
  Clause clause;
  clause.kind = ClauseKind::kAnythingBut;
  clause.excluded = std::move(excluded);
  return clause;
}

// {"NAME": value} with nothing else in it: what `read_value` makes of the value, given the name.
template <class ReadValue>
MaybeClause read_single_field(PatternReader& reader, const char* what, ReadValue&& read_value) {
  JsonScanner& scanner = reader.scanner();
  if (!scanner.open('{')) return kWrong;
  std::string name;
  std::size_t offset = 0;
  if (!scanner.next_item('}')) {
    reader.refuse(scanner.offset() - 1, fmt::format("expected {}, found an empty object", what));
    return kWrong;
  }
  if (!reader.read_field(name, offset)) return kWrong;
  reader.enter_field(name);
  MaybeClause clause = read_value(name, offset);
  if (reader.failed()) return kWrong;
  reader.leave();
  if (scanner.next_item('}')) {
    scanner.peek();
    reader.refuse(scanner.offset(),
                  fmt::format("expected one field in the object, found another beside \"{}\"", printable(name)));
  }
  return reader.failed() ? kWrong : clause;
}

// Parts between the stars of a wildcard.
MaybeClause read_wildcard(PatternReader& reader) {
  reader.scanner().peek();
  const std::size_t offset = reader.scanner().offset();
  std::string text;
  if (!reader.read_text("a string", text)) return kWrong;
  const auto refuse = [&](std::string_view why) {
    reader.refuse(offset, why);
    return MaybeClause();
  };
  std::vector<std::string> parts(1);
  bool after_star = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '*') {
      if (after_star) return refuse("expected something between two stars, found \"**\"; one star stands for any text");
      parts.emplace_back();
      after_star = true;
      continue;
    }
    after_star = false;
    if (text[i] == '\\') {
      const char escaped = ++i < text.size() ? text[i] : '\0';
      if (escaped != '*' && escaped != '\\') {
        return refuse(
            "expected \\* or \\\\, found a backslash before something else; a star or a backslash that is "
            "meant itself has a backslash before it (in JSON \"\\\\*\" and \"\\\\\\\\\")");
      }
    }
    parts.back().push_back(text[i]);
  }
  if (parts.size() - 1 > kMaxStars) {
    return refuse(fmt::format("expected at most {} stars in a wildcard, found {}", kMaxStars, parts.size() - 1));
  }
  return glob_clause(std::move(parts), false);
}

// A string, or {"equals-ignore-case": string}.
MaybeClause read_affix(PatternReader& reader, Clause (*affix)(std::string, bool)) {
  std::string text;
  if (reader.scanner().peek() != '{') {
    if (!reader.read_text("a string or {\"equals-ignore-case\": string}", text)) return kWrong;
    return affix(std::move(text), false);
  }
  return read_single_field(reader, "\"equals-ignore-case\"", [&](const std::string& name, std::size_t offset) {
    if (name != "equals-ignore-case") {
      reader.expected_at(offset, "\"equals-ignore-case\"", '"' + printable(name) + '"');
    } else if (reader.read_text("a string", text)) {
      return MaybeClause(affix(std::move(text), true));
    }
    return MaybeClause();
  });
}

// What may stand within anything-but beside plain values.
MaybeClause read_excluded_text(PatternReader& reader, const std::string& name) {
  if (name == "wildcard") return read_wildcard(reader);
  JsonScanner& scanner = reader.scanner();
  scanner.peek();
  const std::size_t offset = scanner.offset();
  std::string text;
  if (!reader.read_text("a string or a list of strings", text)) return kWrong;
  if (name == "equals-ignore-case") return folded_text(std::move(text));
  if (text.empty()) {
    reader.refuse(offset, fmt::format("expected a {} that is not empty: every string has the empty one", name));
    return kWrong;
  }
  return name == "prefix" ? prefix_of(std::move(text), false) : suffix_of(std::move(text), false);
}

// One item, or a list of them that is not empty.
template <class ReadItem>
MaybeClause read_excluded_list(PatternReader& reader, ReadItem&& read_item) {
  JsonScanner& scanner = reader.scanner();
  std::vector<Clause> excluded;
  if (scanner.peek() != '[') {
    MaybeClause only = read_item();
    if (!only) return kWrong;
    excluded.push_back(*std::move(only));
    return anything_but(std::move(excluded));
  }
  const std::size_t offset = scanner.offset();
  if (!scanner.open('[')) return kWrong;
  while (scanner.next_item(']')) {
    reader.enter_item(excluded.size());
    MaybeClause item = read_item();
    if (!item) return kWrong;
    reader.leave();
    excluded.push_back(*std::move(item));
  }
  if (reader.failed()) return kWrong;
  if (excluded.empty()) {
    reader.expected_at(offset, "at least one value that is excluded", "an empty array");
    return kWrong;
  }
  return anything_but(std::move(excluded));
}

MaybeClause read_anything_but(PatternReader& reader) {
  JsonScanner& scanner = reader.scanner();
  if (scanner.peek() == '{') {
    constexpr const char* kInner = "prefix, suffix, equals-ignore-case or wildcard";
    return read_single_field(reader, kInner, [&](const std::string& name, std::size_t offset) {
      const bool known = name == "prefix" || name == "suffix" || name == "equals-ignore-case" || name == "wildcard";
      if (!known) {
        reader.expected_at(offset, kInner, '"' + printable(name) + '"');
        return MaybeClause();
      }
      return read_excluded_list(reader, [&] { return read_excluded_text(reader, name); });
    });
  }
  std::optional<bool> texts;  // whether the first was one: all are of its type
  return read_excluded_list(reader, [&]() -> MaybeClause {
    const bool is_text = scanner.peek() == '"';
    if (!texts) texts = is_text;
    const char* const what = "strings only or numbers only";
    if (is_text != *texts) {
      reader.expected(what);
      return kWrong;
    }
    std::string text;
    double number = 0;
    if (is_text) return reader.read_text(what, text) ? MaybeClause(exact_text(std::move(text))) : kWrong;
    constexpr const char* kAll = "a string, a number, a list of strings or of numbers, or an object";
    return reader.read_number(kAll, number) ? MaybeClause(exact_number(number)) : kWrong;
  });
}

// Takes an operator of `numeric` and its number into the range; `operators` are those that may stand here.
bool read_bound(PatternReader& reader, std::string_view what, bool upper_only, NumberRange& range, bool& upper) {
  JsonScanner& scanner = reader.scanner();
  scanner.peek();
  const std::size_t offset = scanner.offset();
  std::string name;
  double number = 0;
  if (!reader.read_text(what, name)) return false;
  const bool above = name == ">" || name == ">=";
  const bool below = name == "<" || name == "<=";
  if (!below && (upper_only || (!above && name != "="))) {
    return reader.expected_at(offset, what, '"' + printable(name) + '"');
  }
  if (!scanner.next_item(']')) {
    return !scanner.failed() && reader.refuse(offset, fmt::format("expected a number after \"{}\"", name));
  }
  if (!reader.read_number("a number", number)) return false;
  upper = !above;
  if (!below) {
    range.bottom = number;
    range.without_bottom = name == ">";
  }
  if (!above) {
    range.top = number;
    range.without_top = name == "<";
  }
  return true;
}

MaybeClause read_numeric(PatternReader& reader) {
  JsonScanner& scanner = reader.scanner();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  NumberRange range{-kInfinity, kInfinity, false, false};
  if (scanner.peek() != '[') {
    reader.expected("an array such as [\">\", 0, \"<=\", 5]");
    return kWrong;
  }
  const std::size_t offset = scanner.offset();
  scanner.open('[');
  if (!scanner.next_item(']')) {
    if (!scanner.failed()) reader.expected_at(offset, "an operator and a number", "an empty array");
    return kWrong;
  }
  bool upper = false;
  if (!read_bound(reader, "one of \"=\", \"<\", \"<=\", \">\", \">=\"", false, range, upper)) return kWrong;
  if (!scanner.next_item(']')) return scanner.failed() ? kWrong : MaybeClause(number_clause(range));
  if (upper) {
    reader.expected(
        "the end of the array: a range has its bottom first ([\">\", 0, \"<=\", 5]), and \"=\" stands alone");
    return kWrong;
  }
  if (!read_bound(reader, "\"<\" or \"<=\" for the range's top", true, range, upper)) return kWrong;
  if (scanner.next_item(']')) {
    reader.expected("the end of the array after the range's top");
    return kWrong;
  }
  if (scanner.failed()) return kWrong;
  if (!(range.bottom < range.top)) {
    reader.refuse(offset, fmt::format("expected a range whose bottom is less than its top, found {} and {}",
                                      range.bottom, range.top));
    return kWrong;
  }
  return number_clause(range);
}

MaybeClause read_exists(PatternReader& reader) {
  JsonScanner& scanner = reader.scanner();
  const char next = scanner.peek();
  if (next != 't' && next != 'f') {
    reader.expected("true or false");
    return kWrong;
  }
  if (!scanner.read_word()) return kWrong;
  return plain_clause(next == 't' ? ClauseKind::kAny : ClauseKind::kAbsent);
}

MaybeClause read_cidr(PatternReader& reader) {
  reader.scanner().peek();
  const std::size_t offset = reader.scanner().offset();
  std::string text;
  if (!reader.read_text("a string such as \"10.0.0.0/8\"", text)) return kWrong;
  const auto range = parse_cidr(text);
  if (!range.ok()) {
    reader.expected_at(offset, range.status().message(), '"' + printable(text) + '"');
    return kWrong;
  }
  Clause clause = plain_clause(ClauseKind::kAddress);
  clause.address = *range;
  return clause;
}

MaybeClause read_operator(PatternReader& reader, const std::string& name, std::size_t offset) {
  std::string text;
  if (name == "prefix") return read_affix(reader, prefix_of);
  if (name == "suffix") return read_affix(reader, suffix_of);
  if (name == "wildcard") return read_wildcard(reader);
  if (name == "anything-but") return read_anything_but(reader);
  if (name == "numeric") return read_numeric(reader);
  if (name == "exists") return read_exists(reader);
  if (name == "cidr") return read_cidr(reader);
  if (name == "equals-ignore-case") {
    return reader.read_text("a string", text) ? MaybeClause(folded_text(std::move(text))) : kWrong;
  }
  if (name == "exactly") return reader.read_text("a string", text) ? MaybeClause(exact_text(std::move(text))) : kWrong;
  reader.expected_at(offset, kOperators, '"' + printable(name) + '"');
  return kWrong;
}

}  // namespace

std::optional<Clause> read_clause(PatternReader& reader) {
  JsonScanner& scanner = reader.scanner();
  std::string text;
  double number = 0;
  constexpr const char* kItem = "a string, a number, true, false, null, or an operator in an object";
  switch (const char next = scanner.peek()) {
    case '{':
      return read_single_field(reader, kOperators, [&](const std::string& name, std::size_t offset) {
        return read_operator(reader, name, offset);
      });
    case '"': return reader.read_text(kItem, text) ? MaybeClause(exact_text(std::move(text))) : kWrong;
    case 't':
    case 'f':
    case 'n':
      if (!scanner.read_word()) return kWrong;
      return plain_clause(next == 't' ? ClauseKind::kTrue : next == 'f' ? ClauseKind::kFalse : ClauseKind::kNull);
    default: return reader.read_number(kItem, number) ? MaybeClause(exact_number(number)) : kWrong;
  }
}

bool is_reserved_name(std::string_view name) {
  static constexpr std::array<std::string_view, 24> kReserved = {"exactly",
                                                                 "equals-ignore-case",
                                                                 "prefix",
                                                                 "suffix",
                                                                 "anything-but",
                                                                 "exists",
                                                                 "wildcard",
                                                                 "numeric",
                                                                 "cidr",
                                                                 "=",
                                                                 "<",
                                                                 "<=",
                                                                 ">",
                                                                 ">=",
                                                                 "regex",
                                                                 "not-wildcard",
                                                                 "not-equals-ignore-case",
                                                                 "date-after",
                                                                 "date-on-or-after",
                                                                 "date-before",
                                                                 "date-on-or-before",
                                                                 "in-date-range",
                                                                 "ip-address-in-range",
                                                                 "ip-address-not-in-range"};
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

}  // namespace trainwarden::match
