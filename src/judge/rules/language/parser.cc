#include "judge/rules/language/parser.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "judge/rules/language/checker.h"
#include "judge/rules/language/lexer.h"
#include "judge/rules/language/source_error.h"
#include "judge/rules/language/vocabulary.h"

namespace trainwarden::rules::language {
namespace {

constexpr std::string_view kReadHint = "a tensor is read by a function, as in value(loss) or l2(gradient/*)";

struct Sign {
  std::string_view text;
  Op op;
};
constexpr std::array<Sign, 6> kComparisons = {{{"<", Op::kLess},
                                               {"<=", Op::kLessEqual},
                                               {">", Op::kGreater},
                                               {">=", Op::kGreaterEqual},
                                               {"==", Op::kEqual},
                                               {"!=", Op::kNotEqual}}};
constexpr std::array<Sign, 2> kSums = {{{"+", Op::kAdd}, {"-", Op::kSubtract}}};
constexpr std::array<Sign, 2> kProducts = {{{"*", Op::kMultiply}, {"/", Op::kDivide}}};

const std::vector<std::string> kClauses = {"for", "every", "in", "at", "as"};

class Parser {
 public:
  explicit Parser(std::string_view text) { expression_.text = text; }

  Result<Expression> parse() {
    if (expression_.text.size() > kMostTextBytes) {
      return Status(Code::kInvalidArgument,
                    fmt::format("a rule has at most {} bytes, this one has {}", kMostTextBytes, text().size()));
    }
    if (!is_utf8(text())) return Status(Code::kInvalidArgument, "a rule is text in UTF-8, and this is not");
    expression_.scopes.emplace_back();
    TRAINWARDEN_RETURN_IF_ERROR(advance());
    TRAINWARDEN_RETURN_IF_ERROR(parse_name());
    TRAINWARDEN_ASSIGN_OR_RETURN(const int root, parse_or());
    TRAINWARDEN_RETURN_IF_ERROR(expect_condition(root));
    TRAINWARDEN_RETURN_IF_ERROR(parse_clauses());
    TRAINWARDEN_RETURN_IF_ERROR(check_scopes(expression_));
    return std::move(expression_);
  }

 private:
  std::string_view text() const { return expression_.text; }
  Node& node(int index) { return expression_.nodes[static_cast<std::size_t>(index)]; }

  Status advance() {
    TRAINWARDEN_ASSIGN_OR_RETURN(token_, next_token(text(), at_));
    at_ = token_.place.end;
    return {};
  }
  Status error(Place place, std::string_view what) const { return source_error(text(), place, what); }
  std::string found() const {
    return token_.kind == TokenKind::kEnd ? "the rule ends" : fmt::format("\"{}\" is found", printable(token_.text));
  }
  Status expected(std::string_view what) const {
    return error(token_.place, fmt::format("{} expected, but {}", what, found()));
  }
  Status expect(std::string_view sign) {
    if (!token_.is(sign)) return expected(fmt::format("\"{}\" is", sign));
    return advance();
  }
  Status expect_condition(int index) {
    if (is_condition(node(index).op)) return {};
    return error(node(index).place, "a condition is expected, as in ... > 3, and this is a number");
  }
  Status expect_number(int index) {
    if (!is_condition(node(index).op)) return {};
    return error(node(index).place, "a number is expected, and this is a condition");
  }

  Result<int> add(Node node) {
    if (expression_.nodes.size() == kMostNodes) {
      return error(node.place, fmt::format("the rule has more than {} parts", kMostNodes));
    }
    node.scope = scope_;
    expression_.nodes.push_back(node);
    return static_cast<int>(expression_.nodes.size()) - 1;
  }
  Result<int> add_binary(Op op, int left, int right) {
    return add({.op = op, .place = {node(left).place.begin, node(right).place.end}, .children = {left, right}});
  }

  // Runs `parse` one level deeper.
  template <class Parse>
  Result<int> deeper(Parse parse) {
    if (depth_ == kMostDepth) return error(token_.place, fmt::format("more than {} levels deep", kMostDepth));
    ++depth_;
    auto result = parse();
    --depth_;
    return result;
  }

  // name ":"
  Status parse_name() {
    if (token_.kind != TokenKind::kWord) return {};
    const Token word = token_;
    TRAINWARDEN_ASSIGN_OR_RETURN(const Token next, next_token(text(), at_));
    if (!next.is(":")) return {};
    expression_.name = word.text;
    TRAINWARDEN_RETURN_IF_ERROR(advance());
    return advance();
  }

  // and { "or" and }
  Result<int> parse_or() {
    return deeper([&] { return parse_logic("or", Op::kOr, &Parser::parse_and); });
  }
  Result<int> parse_and() { return parse_logic("and", Op::kAnd, &Parser::parse_not); }

  Result<int> parse_logic(std::string_view word, Op op, Result<int> (Parser::*parse_part)()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(int left, (this->*parse_part)());
    while (token_.is(word)) {
      TRAINWARDEN_RETURN_IF_ERROR(expect_condition(left));
      TRAINWARDEN_RETURN_IF_ERROR(advance());
      TRAINWARDEN_ASSIGN_OR_RETURN(const int right, (this->*parse_part)());
      TRAINWARDEN_RETURN_IF_ERROR(expect_condition(right));
      TRAINWARDEN_ASSIGN_OR_RETURN(left, add_binary(op, left, right));
    }
    return left;
  }

  // "not" not | comparison
  Result<int> parse_not() {
    if (!token_.is("not")) return parse_comparison();
    const std::size_t begin = token_.place.begin;
    TRAINWARDEN_RETURN_IF_ERROR(advance());
    TRAINWARDEN_ASSIGN_OR_RETURN(const int child, deeper([&] { return parse_not(); }));
    TRAINWARDEN_RETURN_IF_ERROR(expect_condition(child));
    return add({.op = Op::kNot, .place = {begin, node(child).place.end}, .children = {child, -1}});
  }

  // sum [ sign sum ]
  Result<int> parse_comparison() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const int left, parse_sum());
    const Sign* const sign = find_sign(kComparisons);
    if (sign == nullptr) return left;
    TRAINWARDEN_RETURN_IF_ERROR(expect_number(left));
    TRAINWARDEN_RETURN_IF_ERROR(advance());
    TRAINWARDEN_ASSIGN_OR_RETURN(const int right, parse_sum());
    TRAINWARDEN_RETURN_IF_ERROR(expect_number(right));
    if (find_sign(kComparisons) != nullptr) {
      return error(token_.place, "comparisons are not chained; write a < b and b < c");
    }
    return add_binary(sign->op, left, right);
  }

  Result<int> parse_sum() { return parse_arithmetic(kSums, &Parser::parse_product); }
  Result<int> parse_product() { return parse_arithmetic(kProducts, &Parser::parse_unary); }

  template <class Signs>
  const Sign* find_sign(const Signs& signs) const {
    const auto found = std::find_if(signs.begin(), signs.end(), [&](const Sign& sign) { return token_.is(sign.text); });
    return found == signs.end() ? nullptr : &*found;
  }

  template <class Signs>
  Result<int> parse_arithmetic(const Signs& signs, Result<int> (Parser::*parse_part)()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(int left, (this->*parse_part)());
    while (const Sign* const sign = find_sign(signs)) {
      TRAINWARDEN_RETURN_IF_ERROR(expect_number(left));
      TRAINWARDEN_RETURN_IF_ERROR(advance());
      TRAINWARDEN_ASSIGN_OR_RETURN(const int right, (this->*parse_part)());
      TRAINWARDEN_RETURN_IF_ERROR(expect_number(right));
      TRAINWARDEN_ASSIGN_OR_RETURN(left, add_binary(sign->op, left, right));
    }
    return left;
  }

  // "-" unary | primary
  Result<int> parse_unary() {
    if (!token_.is("-")) return parse_primary();
    const std::size_t begin = token_.place.begin;
    TRAINWARDEN_RETURN_IF_ERROR(advance());
    TRAINWARDEN_ASSIGN_OR_RETURN(const int child, deeper([&] { return parse_unary(); }));
    TRAINWARDEN_RETURN_IF_ERROR(expect_number(child));
    return add({.op = Op::kNegate, .place = {begin, node(child).place.end}, .children = {child, -1}});
  }

  // number | "step" | "(" or ")" | function
  Result<int> parse_primary() {
    const Token first = token_;
    if (first.kind == TokenKind::kNumber) {
      TRAINWARDEN_RETURN_IF_ERROR(advance());
      return add({.op = Op::kNumber, .place = first.place, .number = first.number});
    }
    if (first.is("(")) return parse_parentheses();
    if (first.kind != TokenKind::kWord) return expected("a number, a function or \"(\" is");
    if (skip_blanks(text(), at_) < text().size() && text()[skip_blanks(text(), at_)] == '(') return parse_call();
    if (!first.is("step")) return unknown_word(first);
    TRAINWARDEN_RETURN_IF_ERROR(advance());
    return add({.op = Op::kStep, .place = first.place});
  }

  Result<int> parse_parentheses() {
    const std::size_t begin = token_.place.begin;
    TRAINWARDEN_RETURN_IF_ERROR(advance());
    TRAINWARDEN_ASSIGN_OR_RETURN(const int inside, parse_or());
    const std::size_t end = token_.place.end;
    TRAINWARDEN_RETURN_IF_ERROR(expect(")"));
    node(inside).place = {begin, end};
    return inside;
  }

  Status unknown_word(const Token& word) const {
    std::vector<std::string> known = function_names();
    known.emplace_back("step");
    const std::string hint = did_you_mean(word.text, known);
    if (hint.empty()) {
      return error(word.place, fmt::format("\"{}\" is no number and no function; {}", word.text, kReadHint));
    }
    return error(word.place, fmt::format("\"{}\" is no number and no function{}", word.text, hint));
  }

  // word "(" ... ")"
  Result<int> parse_call() {
    const Token word = token_;
    const std::size_t inside = skip_blanks(text(), skip_blanks(text(), at_) + 1);
    const auto read = find_read(word.text);
    const auto window = find_window(word.text);
    const auto over = find_over(word.text);
    const auto math = find_math(word.text);
    if (!read && !window && !over && !math) {
      const std::string hint = did_you_mean(word.text, function_names());
      return error(word.place, fmt::format("there is no function \"{}\"{}; the functions are {}", word.text, hint,
                                           fmt::join(function_names(), ", ")));
    }
    if (read && (!window || starts_selector(inside))) return parse_read(word, *read, inside);
    TRAINWARDEN_RETURN_IF_ERROR(advance());
    TRAINWARDEN_RETURN_IF_ERROR(advance());
    return deeper([&]() -> Result<int> {
      if (over) return parse_over(word, *over);
      if (window) return parse_window(word, *window);
      return parse_math(word, *math);
    });
  }

  // Of a name that is both: what a tensor is read by, and a function of numbers.
  bool starts_selector(std::size_t at) const {
    const auto length = Selector::end_of(text().substr(at));
    if (!length) return true;
    const std::string_view word = text().substr(at, *length);
    const std::size_t next = skip_blanks(text(), at + *length);
    const bool called = next < text().size() && text()[next] == '(';
    return !word.empty() && word[0] != '-' && word != "step" && !parse_double(word) && !called;
  }

  // selector ")"
  Result<int> parse_read(const Token& word, const ReadWord& read, std::size_t at) {
    const auto length = Selector::end_of(text().substr(at));
    if (!length) return error({at, at + 1}, "this is not closed");
    const Place place{at, at + *length};
    const std::string hint =
        fmt::format("{} reads a tensor; its name is expected here, or a pattern such as gradient/*", word.text);
    if (*length == 0) return error({at, at + 1}, hint);
    at_ = place.end;
    const std::size_t begin = word.place.begin;
    TRAINWARDEN_RETURN_IF_ERROR(advance());
    if (token_.is("(")) return error(place, hint);
    if (token_.is(",") && find_window(word.text)) {
      return error(place, fmt::format("a window goes over a number, as in {}(value({}), 50 steps)", word.text,
                                      text().substr(at, *length)));
    }
    const std::size_t end = token_.place.end;
    TRAINWARDEN_RETURN_IF_ERROR(expect(")"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const int selector, selector_at(place));
    return add({.op = Op::kRead,
                .place = {begin, end},
                .reading = read.reading,
                .reduction = read.reduction,
                .abs = read.abs,
                .selector = selector});
  }

  Result<int> selector_at(Place place) {
    auto parsed = Selector::parse(text().substr(place.begin, place.end - place.begin));
    if (!parsed.ok()) return error(place, parsed.status().message());
    auto& all = expression_.selectors;
    const auto same = [&](const Selector& selector) { return selector.text() == parsed->text(); };
    const auto number = static_cast<int>(std::find_if(all.begin(), all.end(), same) - all.begin());
    if (number == static_cast<int>(all.size())) all.push_back(*std::move(parsed));
    auto& used = expression_.scopes[static_cast<std::size_t>(scope_)].selectors;
    if (std::find(used.begin(), used.end(), number) == used.end()) used.push_back(number);
    return number;
  }

  // or ")"
  Result<int> parse_over(const Token& word, const OverWord& over) {
    const int outer = std::exchange(scope_, static_cast<int>(expression_.scopes.size()));
    const int inner = scope_;
    expression_.scopes.emplace_back();
    const auto child = parse_or();
    scope_ = outer;
    if (!child.ok()) return child.status();
    TRAINWARDEN_RETURN_IF_ERROR(over.of_condition ? expect_condition(*child) : expect_number(*child));
    const std::size_t end = token_.place.end;
    TRAINWARDEN_RETURN_IF_ERROR(expect(")"));
    return add({.op = over.op, .place = {word.place.begin, end}, .children = {*child, -1}, .inner = inner});
  }

  // sum "," N steps ")"; of min and max also sum "," sum ")"
  Result<int> parse_window(const Token& word, const WindowWord& window) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const int child, parse_or());
    TRAINWARDEN_RETURN_IF_ERROR(expect_number(child));
    if (window.extent == Extent::kNone) return finish_window(word, window.op, child, 1);
    if (!token_.is(",")) return expected("\", N steps)\" is");
    TRAINWARDEN_RETURN_IF_ERROR(advance());
    const auto math = find_math(word.text);
    if (math && !steps_follow()) return parse_second(word, *math, child);
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t steps, parse_steps(kMostWindowSteps));
    return finish_window(word, window.op, child, steps);
  }

  Result<int> finish_window(const Token& word, Op op, int child, std::int64_t steps) {
    const std::size_t end = token_.place.end;
    TRAINWARDEN_RETURN_IF_ERROR(expect(")"));
    return add({.op = op, .place = {word.place.begin, end}, .children = {child, -1}, .steps = steps});
  }

  bool steps_follow() const {
    const auto next = next_token(text(), at_);
    return token_.kind == TokenKind::kNumber && next.ok() && (next->is("steps") || next->is("step"));
  }

  // N ("steps" | "step")
  Result<std::int64_t> parse_steps(std::int64_t most) {
    const Token number = token_;
    const bool whole = number.kind == TokenKind::kNumber && number.number == std::floor(number.number);
    if (!whole || number.number < 1 || number.number > static_cast<double>(most)) {
      return expected(fmt::format("a whole number of steps from 1 to {} is", most));
    }
    TRAINWARDEN_RETURN_IF_ERROR(advance());
    if (!token_.is("steps") && !token_.is("step")) return expected("\"steps\" is");
    TRAINWARDEN_RETURN_IF_ERROR(advance());
    return static_cast<std::int64_t>(number.number);
  }

  // sum [ "," sum ] ")"
  Result<int> parse_math(const Token& word, const MathWord& math) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const int child, parse_or());
    TRAINWARDEN_RETURN_IF_ERROR(expect_number(child));
    const std::size_t end = token_.place.end;
    TRAINWARDEN_RETURN_IF_ERROR(expect(")"));
    return add({.op = math.op, .place = {word.place.begin, end}, .children = {child, -1}});
  }

  Result<int> parse_second(const Token& word, const MathWord& math, int first) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const int second, parse_or());
    TRAINWARDEN_RETURN_IF_ERROR(expect_number(second));
    const std::size_t end = token_.place.end;
    TRAINWARDEN_RETURN_IF_ERROR(expect(")"));
    return add({.op = math.op, .place = {word.place.begin, end}, .children = {first, second}});
  }

  // { "for" N steps | "every" N steps | "in" mode | "at" "rank" N | "as" severity }, each once
  Status parse_clauses() {
    std::vector<std::string> seen;
    while (token_.kind != TokenKind::kEnd) {
      const Token clause = token_;
      const std::string word(clause.text);
      if (std::find(kClauses.begin(), kClauses.end(), word) == kClauses.end()) return unknown_clause();
      if (std::find(seen.begin(), seen.end(), word) != seen.end()) {
        return error(clause.place, fmt::format("\"{}\" is there twice", word));
      }
      seen.push_back(word);
      TRAINWARDEN_RETURN_IF_ERROR(advance());
      TRAINWARDEN_RETURN_IF_ERROR(parse_clause(word));
    }
    return {};
  }

  Status parse_clause(std::string_view word) {
    if (word == "in") return parse_mode_clause();
    if (word == "at") return parse_rank_clause();
    if (word == "as") return parse_severity_clause();
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t steps, parse_steps(kMostSteps));
    (word == "for" ? expression_.for_steps : expression_.every) = steps;
    return {};
  }

  Status unknown_clause() const {
    if (token_.kind == TokenKind::kWord) {
      std::vector<std::string> known = kClauses;
      known.insert(known.end(), {"and", "or"});
      return error(token_.place, fmt::format("the rule could end here, or go on with {}, but {}{}",
                                             fmt::join(known, ", "), found(), did_you_mean(token_.text, known)));
    }
    return error(token_.place, fmt::format("the rule could end here, but {}", found()));
  }

  Status parse_mode_clause() {
    const auto mode = token_.kind == TokenKind::kWord ? trainwarden::parse_mode(token_.text) : std::nullopt;
    if (!mode || *mode == Mode::kGlobal) {
      const std::vector<std::string> known = {"train", "eval", "predict"};
      return error(token_.place, fmt::format("train, eval or predict is expected, but {}{}", found(),
                                             did_you_mean(token_.text, known)));
    }
    expression_.mode = mode;
    return advance();
  }

  Status parse_rank_clause() {
    TRAINWARDEN_RETURN_IF_ERROR(expect("rank"));
    const bool whole = token_.kind == TokenKind::kNumber && token_.number == std::floor(token_.number);
    if (!whole || token_.number > 1'000'000) return expected("the number of a worker is");
    expression_.rank = static_cast<int>(token_.number);
    return advance();
  }

  Status parse_severity_clause() {
    for (const Severity severity : {Severity::kInfo, Severity::kWarning, Severity::kError}) {
      if (!token_.is(trainwarden::name(severity))) continue;
      expression_.severity = severity;
      return advance();
    }
    const std::vector<std::string> known = {"info", "warning", "error"};
    return error(token_.place, fmt::format("info, warning or error is expected, but {}{}", found(),
                                           did_you_mean(token_.text, known)));
  }

  Expression expression_;
  Token token_;
  std::size_t at_ = 0;  // behind token_
  int depth_ = 0;
  int scope_ = 0;
};

}  // namespace

Result<Expression> parse_expression(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace trainwarden::rules::language
