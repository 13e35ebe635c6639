#include "data/format/parse_json.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>

#include "data/format/json_mistake.h"

namespace trainwarden::format {
namespace {

// What can be seen of a text without a tree.
struct JsonOutline {
  int depth = 0;             // of the deepest level
  std::uint64_t values = 0;  // at most; a name in an object counts as one
};

// Where the string that begins before `from` ends: at its closing quote, else at the end of the text.
std::size_t end_of_string(std::string_view text, std::size_t from) {
  for (std::size_t quote = text.find('"', from); quote != std::string_view::npos; quote = text.find('"', quote + 1)) {
    std::size_t before = quote;
    while (before > from && text[before - 1] == '\\') --before;
    if ((quote - before) % 2 == 0) return quote;
  }
  return text.size();
}

JsonOutline outline_of(std::string_view text, const JsonLimits& limits) {
  JsonOutline outline;
  int depth = 0;
  for (std::size_t i = 0; i < text.size() && outline.depth <= limits.depth; ++i) {
    const char c = text[i];
    if (c == '"') i = end_of_string(text, i + 1);
    if (c == '{' || c == '[') outline.depth = std::max(outline.depth, ++depth);
    if (c == '}' || c == ']') --depth;
    if (c == '{' || c == '[' || c == ',' || c == ':') ++outline.values;
  }
  return outline;
}

// Else the parser refuses it at its first letter. A byte order mark (EF BB BF) it passes over.
bool may_be_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && std::string_view("{[\"-0123456789tfn\xEF").find(text[first]) != text.npos;
}

template <class Tree>
Result<Tree> parse(std::string_view text, std::string_view what, const JsonLimits& limits) {
  try {
    TRAINWARDEN_RETURN_IF_ERROR(check_json_limits(text, what, limits));
    Tree tree = Tree::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
    if (tree.is_discarded()) return not_well_formed(text, what);
    return tree;
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, fmt::format("{}: not enough memory to read it", what));
  }
}

}  // namespace

Status check_json_limits(std::string_view text, std::string_view what, const JsonLimits& limits) {
  if (!may_be_json(text)) return {};
  const JsonOutline outline = outline_of(text, limits);
  if (outline.depth > limits.depth) {
    return Status(Code::kDataLoss, fmt::format("{}: nested deeper than {} levels", what, limits.depth));
  }
  if (outline.values <= limits.values) return {};
  return over_read_budget(what, fmt::format("{} JSON values", outline.values), fmt::format("{}", limits.values));
}

Result<Json> parse_json(std::string_view text, std::string_view what, const JsonLimits& limits) {
  return parse<Json>(text, what, limits);
}

Result<OrderedJson> parse_ordered_json(std::string_view text, std::string_view what, const JsonLimits& limits) {
  return parse<OrderedJson>(text, what, limits);
}

}  // namespace trainwarden::format
