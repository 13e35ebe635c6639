// Selector: which tensors a rule of the rule language reads.
//
//   gradient/*          a pattern for the whole name: * stands for any text, ? for one character
//   gradient/{p}        the same with a variable: text, not empty, that other selectors of the rule share
//   "a name, exactly"   \" and \\ within it
//   /conv\d+\.weight$/  PCRE2, found anywhere in the name; \/ is a slash
//   @weights            a collection
//   @weights:conv*      what of it has such a name
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/collection.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"

namespace trainwarden::rules::language {

inline constexpr std::size_t kMostVariables = 3;

class Selector {
 public:
  // Where a selector that starts at `text`'s beginning ends; none when a quote or slash is not closed.
  static std::optional<std::size_t> end_of(std::string_view text);
  // The whole of `text`. kInvalidArgument: what is wrong with it.
  static Result<Selector> parse(std::string_view text);

  const std::string& text() const { return text_; }
  bool one_name() const { return one_name_; }                               // at most one tensor has it
  const std::vector<std::string>& variables() const { return variables_; }  // sorted
  const TensorSelection& selection() const { return selection_; }           // all that match() accepts, and maybe more

  // The values of the variables, in their order, when the name is selected; else none.
  std::optional<std::vector<std::string>> match(std::string_view name) const;

  // What must be captured: statistics of the selected tensors, by this policy.
  Collection need(const SavePolicy& save) const;

 private:
  enum class PartKind { kText, kAnyText, kAnyCharacter, kVariable };
  struct Part {
    PartKind kind = PartKind::kText;
    std::string text;  // or the variable's name
  };

  Status parse_pattern(std::string_view pattern);
  Status add_variable(std::string_view name);
  void add_text(std::string_view text);
  std::string expression() const;
  bool match_parts(std::size_t part, std::string_view rest, std::vector<std::string>& values) const;
  bool match_plain(std::string_view name) const;

  std::string text_;
  bool one_name_ = false;
  std::vector<Part> parts_;  // none: everything of the selection
  std::vector<std::string> variables_;
  TensorSelection selection_;
};

}  // namespace trainwarden::rules::language
