// Pattern: one pattern of EventBridge's language (docs/reference/patterns.md), checked and ready to be added to a
// Matcher.
//
//   {"detail": {"TrainingJobStatus": ["InProgress"], "SecondaryStatus": [{"prefix": "Train"}]}}
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "trainwarden/status.h"

namespace trainwarden::match {

struct PatternTree;

// Immutable; may be shared by threads. Cheap to copy.
class Pattern {
 public:
  // kInvalidArgument: the message has the place in the pattern ("detail.state[1].prefix (line 2, column 9)"), what was
  // expected and what was found.
  static Result<Pattern> parse(std::string_view json);

  const std::string& text() const { return text_; }  // as it was given
  const PatternTree& tree() const { return *tree_; }

 private:
  Pattern(std::string text, std::shared_ptr<const PatternTree> tree) : text_(std::move(text)), tree_(std::move(tree)) {}

  std::string text_;
  std::shared_ptr<const PatternTree> tree_;
};

}  // namespace trainwarden::match
