#include "judge/rules/language/selector.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "core/base/regex.h"
#include "core/base/text.h"

namespace trainwarden::rules::language {
namespace {

Status bad(std::string message) {
  return Status(Code::kInvalidArgument, std::move(message));
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Past the closing mark of what starts with `mark`; a backslash takes the next character's meaning away.
std::optional<std::size_t> end_of_quoted(std::string_view text, char mark) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == mark) {
      return i + 1;
    }
  }
  return std::nullopt;
}

// What stands between the marks. A backslash before one of `escaped` goes away, others stay.
std::string unquoted(std::string_view text, std::string_view escaped) {
  std::string result;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '\\' && i + 2 < text.size() && escaped.find(text[i + 1]) != std::string_view::npos) ++i;
    result += text[i];
  }
  return result;
}

}  // namespace

std::optional<std::size_t> Selector::end_of(std::string_view text) {
  if (!text.empty() && (text[0] == '"' || text[0] == '/')) return end_of_quoted(text, text[0]);
  constexpr std::string_view kEnds = " \t\r\n,()\"";
  return std::min(text.find_first_of(kEnds), text.size());
}

Result<Selector> Selector::parse(std::string_view text) {
  Selector selector;
  selector.text_ = text;
  if (text[0] == '"') {
    const std::string name = unquoted(text, "\"\\");
    if (name.empty()) return bad("the name of a tensor is empty");
    selector.add_text(name);
    selector.selection_.patterns = {selector.expression()};
  } else if (text[0] == '/') {
    const std::string pattern = unquoted(text, "/");
    if (pattern.empty()) return bad("the pattern between the slashes is empty");
    TRAINWARDEN_RETURN_IF_ERROR(Regex::compile(pattern).status());
    selector.selection_.patterns = {pattern};
  } else if (text[0] == '@') {
    const std::size_t colon = text.find(':');
    const std::string_view collection = text.substr(1, colon == std::string_view::npos ? colon : colon - 1);
    if (collection.empty() || !std::all_of(collection.begin(), collection.end(), is_word_character)) {
      return bad("after @ the name of a collection is expected, as in @weights or @weights:conv*");
    }
    selector.selection_.collections = {std::string(collection)};
    if (colon != std::string_view::npos) {
      TRAINWARDEN_RETURN_IF_ERROR(selector.parse_pattern(text.substr(colon + 1)));
    }
  } else {
    TRAINWARDEN_RETURN_IF_ERROR(selector.parse_pattern(text));
    selector.selection_.patterns = {selector.expression()};
  }
  selector.one_name_ = selector.parts_.size() == 1 && selector.parts_[0].kind == PartKind::kText;
  return selector;
}

Status Selector::parse_pattern(std::string_view pattern) {
  if (pattern.empty()) return bad("a pattern for the names of tensors is expected");
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '*' || pattern[i] == '?') {
      parts_.push_back({pattern[i] == '*' ? PartKind::kAnyText : PartKind::kAnyCharacter, {}});
    } else if (pattern[i] == '{') {
      const std::size_t end = std::min(pattern.find('}', i), pattern.size());
      if (end == pattern.size()) return bad("a { is not closed; a variable is written {p}");
      TRAINWARDEN_RETURN_IF_ERROR(add_variable(pattern.substr(i + 1, end - i - 1)));
      i = end;
    } else {
      add_text(pattern.substr(i, 1));
    }
  }
  std::sort(variables_.begin(), variables_.end());
  const bool wild = std::any_of(parts_.begin(), parts_.end(), [](const Part& part) {
    return part.kind == PartKind::kAnyText || part.kind == PartKind::kAnyCharacter;
  });
  if (wild && !variables_.empty()) return bad("variables and * or ? do not go together; give each * a name, as in {q}");
  return {};
}

Status Selector::add_variable(std::string_view name) {
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_word_character)) {
    return bad("between { and } the name of a variable is expected, of letters and digits");
  }
  const bool adjacent = !parts_.empty() && parts_.back().kind == PartKind::kVariable;
  if (adjacent) return bad("two variables without text between them cannot be told apart");
  if (std::find(variables_.begin(), variables_.end(), name) != variables_.end()) {
    return bad(fmt::format("the variable {{{}}} is there twice", name));
  }
  if (variables_.size() == kMostVariables) return bad(fmt::format("more than {} variables", kMostVariables));
  variables_.emplace_back(name);
  parts_.push_back({PartKind::kVariable, std::string(name)});
  return {};
}

void Selector::add_text(std::string_view text) {
  if (parts_.empty() || parts_.back().kind != PartKind::kText) parts_.push_back({});
  parts_.back().text += text;
}

// The pattern in PCRE2.
std::string Selector::expression() const {
  std::string expression = "(?s)^";
  for (const Part& part : parts_) {
    switch (part.kind) {
      case PartKind::kAnyText: expression += ".*"; break;
      case PartKind::kAnyCharacter: expression += "."; break;
      case PartKind::kVariable: expression += ".+"; break;
      case PartKind::kText:
        for (const char c : part.text) {
          if (static_cast<unsigned char>(c) < 0x80 && !is_word_character(c)) expression += '\\';
          expression += c;
        }
    }
  }
  return expression + "\\z";
}

std::optional<std::vector<std::string>> Selector::match(std::string_view name) const {
  std::vector<std::string> values(variables_.size());
  const bool selected = variables_.empty() ? match_plain(name) : match_parts(0, name, values);
  if (!selected) return std::nullopt;
  return values;
}

// What is no selection's own work: the names within a collection.
bool Selector::match_plain(std::string_view name) const {
  if (parts_.empty()) return true;
  std::size_t part = 0;
  std::size_t at = 0;
  std::size_t star = parts_.size();  // the last * that was met, and what it was tried with
  std::size_t star_end = 0;
  while (at < name.size() || part < parts_.size()) {
    if (part < parts_.size() && parts_[part].kind == PartKind::kAnyText) {
      star = part++;
      star_end = at;
    } else if (part < parts_.size() && parts_[part].kind == PartKind::kAnyCharacter && at < name.size()) {
      ++part;
      ++at;
    } else if (part < parts_.size() && parts_[part].kind == PartKind::kText &&
               name.substr(at).starts_with(parts_[part].text)) {
      at += parts_[part++].text.size();
    } else if (star < parts_.size() && star_end < name.size()) {
      at = ++star_end;
      part = star + 1;
    } else {
      return false;
    }
  }
  return true;
}

// Each variable takes as little as it can. At most kMostVariables deep.
bool Selector::match_parts(std::size_t part, std::string_view rest, std::vector<std::string>& values) const {
  if (part == parts_.size()) return rest.empty();
  const Part& now = parts_[part];
  if (now.kind == PartKind::kText) {
    return rest.starts_with(now.text) && match_parts(part + 1, rest.substr(now.text.size()), values);
  }
  const auto index = std::lower_bound(variables_.begin(), variables_.end(), now.text) - variables_.begin();
  const bool last = part + 1 == parts_.size();
  for (std::size_t size = last ? rest.size() : 1; size >= 1 && size <= rest.size(); ++size) {
    if (!match_parts(part + 1, rest.substr(size), values)) continue;
    values[static_cast<std::size_t>(index)] = rest.substr(0, size);
    return true;
  }
  return false;
}

Collection Selector::need(const SavePolicy& save) const {
  Collection need{.save = save, .keep = KeepForm::reduced()};
  need.name = selection_.collections.empty() ? "rule:" + text_ : selection_.collections.front();
  need.include = selection_.patterns;
  return need;
}

}  // namespace trainwarden::rules::language
