#include "judge/rules/language/expression.h"

#include "core/base/text.h"

namespace trainwarden::rules::language {

bool is_condition(Op op) {
  return op == Op::kAll || op == Op::kAny || op >= Op::kLess;
}

bool is_window(Op op) {
  return op >= Op::kWindowMedian && op <= Op::kFirst;
}

bool is_over_tensors(Op op) {
  return op >= Op::kMaxOver && op <= Op::kAny;
}

std::string Expression::text_of(const Node& node) const {
  std::string line;
  for (const char c : text.substr(node.place.begin, node.place.end - node.place.begin)) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  return printable(trim(line));
}

}  // namespace trainwarden::rules::language
