#include "react/match/pattern.h"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "react/match/clause_parser.h"
#include "react/match/pattern_reader.h"
#include "react/match/pattern_tree.h"

namespace trainwarden::match {
namespace {

// The ways in which a part of the pattern can hold: for each the numbers of the leaves that must.
using Alternatives = std::vector<std::vector<std::uint32_t>>;

class PatternParser {
 public:
  explicit PatternParser(std::string_view text) : reader_(text) {}

  Result<PatternTree> parse() {
    JsonScanner& scanner = reader_.scanner();
    if (reader_.text().size() > kMaxPatternBytes) {
      return Status(Code::kInvalidArgument,
                    fmt::format("expected a pattern of at most {}, found {}", format_bytes(kMaxPatternBytes),
                                format_bytes(reader_.text().size())));
    }
    if (scanner.peek() != '{') {
      reader_.expected("an object: {\"field\": [\"value\"]}");
    } else if (read_object(tree_.alternatives)) {
      scanner.read_end();
    }
    if (reader_.failed()) return reader_.status();
    return std::move(tree_);
  }

 private:
  // An object with fields of the event. `alternatives` becomes the ways in which all of it holds.
  bool read_object(Alternatives& alternatives) {
    JsonScanner& scanner = reader_.scanner();
    scanner.peek();
    const std::size_t begin = scanner.offset();
    if (!scanner.open('{')) return false;
    std::set<std::string> names;
    std::string name;
    std::size_t offset = 0;
    alternatives.assign(1, {});
    while (scanner.next_item('}')) {
      if (!reader_.read_field(name, offset)) return false;
      reader_.enter_field(name);
      if (!names.insert(name).second) return reader_.refuse(offset, "expected each field once, found it twice");
      Alternatives of_field;
      if (!read_field_value(name, of_field) || !multiply(alternatives, of_field, offset)) return false;
      reader_.leave();
    }
    if (scanner.failed()) return false;
    return !names.empty() || reader_.expected_at(begin, "at least one field", "an empty object");
  }

  bool read_field_value(const std::string& name, Alternatives& alternatives) {
    JsonScanner& scanner = reader_.scanner();
    const char next = scanner.peek();
    if (next == '[') {
      if (name != "$or") return read_leaf(name, alternatives);
      if (is_choice(scanner)) return read_choice(alternatives);
      return read_leaf(name, alternatives) ||
             reader_.explain(
                 "a field \"$or\" lists alternatives only when it has two objects or more, and none of them "
                 "a field that is named as an operator");
    }
    if (next != '{') return reader_.expected("an array of values, or an object");
    if (path_.size() == kMaxPatternDepth) {
      return reader_.refuse(scanner.offset(),
                            fmt::format("expected at most {} fields within each other", kMaxPatternDepth));
    }
    path_.push_back(name);
    const bool read = read_object(alternatives);
    path_.pop_back();
    return read;
  }

  bool read_leaf(const std::string& name, Alternatives& alternatives) {
    JsonScanner& scanner = reader_.scanner();
    const std::size_t begin = scanner.offset();
    if (!scanner.open('[')) return false;
    Leaf leaf{path_, {}};
    leaf.path.push_back(name);
    std::vector<Clause>& clauses = leaf.condition.any_of;
    while (scanner.next_item(']')) {
      reader_.enter_item(clauses.size());
      auto clause = read_clause(reader_);
      if (!clause) return false;
      reader_.leave();
      clauses.push_back(*std::move(clause));
    }
    if (scanner.failed()) return false;
    if (clauses.empty()) return reader_.expected_at(begin, "at least one value", "an empty array");
    alternatives.assign(1, {static_cast<std::uint32_t>(tree_.leaves.size())});
    tree_.leaves.push_back(std::move(leaf));
    return true;
  }

  // Whether the array that comes next, the value of a field "$or", lists alternatives: two objects or more, and none
  // with a field that is named as an operator. Otherwise "$or" is a field as any other. Also when it is broken further
  // on: that is met again, and reported, where it is read.
  static bool is_choice(JsonScanner ahead) {
    std::size_t objects = 0;
    RawString key;
    std::string storage;
    for (ahead.open('['); ahead.next_item(']'); ++objects) {
      if (ahead.peek() != '{') return false;
      for (ahead.open('{'); ahead.next_item('}'); ahead.skip_value()) {
        if (ahead.read_key(key) && is_reserved_name(decoded(key, storage))) return false;
      }
    }
    return objects >= 2 || ahead.failed();
  }

  bool read_choice(Alternatives& alternatives) {
    JsonScanner& scanner = reader_.scanner();
    const std::size_t begin = scanner.offset();
    std::size_t placed = 0;
    if (!scanner.open('[')) return false;
    for (std::size_t index = 0; scanner.next_item(']'); ++index) {
      reader_.enter_item(index);
      Alternatives of_object;
      if (scanner.peek() != '{') return reader_.expected("an object with fields");
      if (!read_object(of_object)) return false;
      reader_.leave();
      placed += placements(of_object);
      std::move(of_object.begin(), of_object.end(), std::back_inserter(alternatives));
      if (!bounded(alternatives.size(), placed, begin)) return false;
    }
    return !scanner.failed();
  }

  // Both must hold: every way of one with every way of the other.
  bool multiply(Alternatives& alternatives, const Alternatives& others, std::size_t offset) {
    if (others.size() == 1) {
      for (auto& left : alternatives) left.insert(left.end(), others[0].begin(), others[0].end());
      return bounded(alternatives.size(), placements(alternatives), offset);
    }
    const std::size_t count = alternatives.size() * others.size();
    const std::size_t placed = others.size() * placements(alternatives) + alternatives.size() * placements(others);
    if (!bounded(count, placed, offset)) return false;
    Alternatives product;
    product.reserve(count);
    for (const auto& left : alternatives) {
      for (const auto& right : others) {
        product.push_back(left);
        product.back().insert(product.back().end(), right.begin(), right.end());
      }
    }
    alternatives = std::move(product);
    return true;
  }

  static std::size_t placements(const Alternatives& alternatives) {
    std::size_t count = 0;
    for (const auto& alternative : alternatives) count += alternative.size();
    return count;
  }

  bool bounded(std::size_t alternatives, std::size_t placements, std::size_t offset) {
    if (alternatives <= kMaxAlternatives && placements <= kMaxPlacements) return true;
    return reader_.refuse(offset, fmt::format("expected \"$or\" to come to at most {} combinations with {} values "
                                              "between them, found more; split the pattern",
                                              kMaxAlternatives, kMaxPlacements));
  }

  PatternReader reader_;
  PatternTree tree_;
  std::vector<std::string> path_;  // of the object that is being read, without "$or"
};

}  // namespace

Result<Pattern> Pattern::parse(std::string_view json) {
  try {
    TRAINWARDEN_ASSIGN_OR_RETURN(PatternTree tree, PatternParser(json).parse());
    return Pattern(std::string(json), std::make_shared<const PatternTree>(std::move(tree)));
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "not enough memory to read the pattern");
  }
}

}  // namespace trainwarden::match
