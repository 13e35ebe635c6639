#include "judge/rules/language/parser.h"

#include <string>

#include <gtest/gtest.h>

namespace trainwarden::rules::language {
namespace {

std::string fault(std::string_view text) {
  const auto parsed = parse_expression(text);
  if (parsed.ok()) {
    ADD_FAILURE() << "accepted: " << text;
    return "";
  }
  EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument);
  return parsed.status().message();
}

// The rule with all parentheses, as it was understood.
std::string shape(const Expression& e, int index) {
  const Node& node = e.nodes[static_cast<std::size_t>(index)];
  if (node.children[0] < 0) return e.text_of(node);
  const std::string left = shape(e, node.children[0]);
  const std::string right = node.children[1] < 0 ? "" : " " + shape(e, node.children[1]);
  return "(" + std::to_string(static_cast<int>(node.op)) + " " + left + right + ")";
}

std::string shape(std::string_view text) {
  const auto parsed = parse_expression(text);
  if (!parsed.ok()) return parsed.status().message();
  return shape(*parsed, static_cast<int>(parsed->nodes.size()) - 1);
}

std::string of(Op op, const std::string& left, const std::string& right) {
  return "(" + std::to_string(static_cast<int>(op)) + " " + left + " " + right + ")";
}

TEST(ParseExpression, TheExampleOfTheGuide) {
  const auto parsed = parse_expression("l2(gradient/*) > 100 * median(l2(gradient/*), 50 steps) for 3 steps");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->for_steps, 3);
  ASSERT_EQ(parsed->selectors.size(), 1U);
  EXPECT_EQ(parsed->selectors[0].text(), "gradient/*");
  EXPECT_EQ(parsed->nodes.back().op, Op::kGreater);
}

TEST(ParseExpression, ProductsBindTighterThanSumsAndAndThanOr) {
  const std::string a = "value(a)";
  EXPECT_EQ(shape("value(a) + value(a) * 2 > 1"), of(Op::kGreater, of(Op::kAdd, a, of(Op::kMultiply, a, "2")), "1"));
  EXPECT_EQ(shape("value(a) - 1 - 2 > 1"), of(Op::kGreater, of(Op::kSubtract, of(Op::kSubtract, a, "1"), "2"), "1"));
  const std::string c = of(Op::kGreater, a, "1");
  EXPECT_EQ(shape("value(a) > 1 or value(a) > 1 and value(a) > 1"), of(Op::kOr, c, of(Op::kAnd, c, c)));
  EXPECT_EQ(shape("(value(a) > 1 or value(a) > 1) and value(a) > 1"), of(Op::kAnd, of(Op::kOr, c, c), c));
}

TEST(ParseExpression, OneNameForReadingForWindowsAndForTwoNumbers) {
  const auto op_of = [](std::string_view text) {
    const auto parsed = parse_expression(text);
    return parsed.ok() ? parsed->nodes[static_cast<std::size_t>(parsed->nodes.back().children[0])].op : Op::kNumber;
  };
  EXPECT_EQ(op_of("max(weight) > 1"), Op::kRead);
  EXPECT_EQ(op_of("max(0.weight) > 1"), Op::kRead);
  EXPECT_EQ(op_of("max(@weights) > 1"), Op::kRead);
  EXPECT_EQ(op_of("max(/w/) > 1"), Op::kRead);
  EXPECT_EQ(op_of("max(l2(weight), 5 steps) > 1"), Op::kWindowMax);
  EXPECT_EQ(op_of("max(-l2(weight), 1 step) > 1"), Op::kWindowMax);
  EXPECT_EQ(op_of("max(l2(weight), 5) > 1"), Op::kLarger);
  EXPECT_EQ(op_of("min(1e-6, l2(weight)) < 1"), Op::kSmaller);
  EXPECT_EQ(op_of("max(step, l2(weight)) < 1"), Op::kLarger);
}

TEST(ParseExpression, NameAndClausesInAnyOrder) {
  const auto parsed =
      parse_expression("Spike: value(loss) > 3\n  as error at rank 2 in train every 5 steps for 1 step");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->name, "Spike");
  EXPECT_EQ(parsed->severity, Severity::kError);
  EXPECT_EQ(parsed->rank, 2);
  EXPECT_EQ(parsed->mode, Mode::kTrain);
  EXPECT_EQ(parsed->every, 5);
  EXPECT_EQ(parsed->for_steps, 1);
}

TEST(ParseExpression, AFaultIsShownInItsLine) {
  EXPECT_EQ(
      fault("value(loss) > 3\n  and l3(gradient/*) > 3"),
      "line 2, column 7: there is no function \"l3\"; did you mean \"l1\"?; the functions are abs, abs_max, abs_mean, "
      "abs_min, abs_std, abs_var, all, any, change, count, first, inf_count, is_finite, is_nan, l1, l2, lag, log, max, "
      "max_over, mean, mean_over, median, median_over, min, min_over, nan_count, previous, share, size, sqrt, std, "
      "sum, sum_over, value, var, zero_count, zero_fraction\n"
      "    and l3(gradient/*) > 3\n"
      "        ^^");
  EXPECT_EQ(fault("l2(x) >"),
            "line 1, column 8: a number, a function or \"(\" is expected, but the rule ends\n"
            "  l2(x) >\n"
            "         ^");
}

// Columns are characters, not bytes, and what drives a terminal is shown as \xNN.
TEST(ParseExpression, TheCaretStandsRightUnderOtherAlphabets) {
  EXPECT_EQ(
      fault("l2(\"größe\") > oops"),
      "line 1, column 15: \"oops\" is no number and no function; a tensor is read by a function, as in value(loss) or "
      "l2(gradient/*)\n"
      "  l2(\"größe\") > oops\n"
      "                ^^^^");
  EXPECT_NE(fault("l2(x) > 1 \x1b[0m").find("\\x1B"), std::string::npos);
}

TEST(ParseExpression, SaysWhatWasExpected) {
  const std::vector<std::pair<const char*, const char*>> kFaults = {
      {"", "the rule ends"},
      {"l2(x)", "a condition is expected"},
      {"l2(x) > 3 > 2", "not chained"},
      {"(l2(x) > 3) + 1 > 2", "a number is expected"},
      {"l2(x) and l2(x) > 1", "a condition is expected"},
      {"not l2(x)", "a condition is expected"},
      {"l2(x) = 3", "write =="},
      {"l2(x) > 3 && l2(x) < 4", "write and"},
      {"!is_nan(l2(x))", "write not"},
      {"l2(x) > 3 for", "a whole number of steps"},
      {"l2(x) > 3 for 2.5 steps", "a whole number of steps"},
      {"l2(x) > 3 for 0 steps", "a whole number of steps"},
      {"l2(x) > 3 for 3", "\"steps\" is expected"},
      {"l2(x) > 3 for 3 steps for 4 steps", "twice"},
      {"l2(x) > 3 fro 3 steps", "did you mean \"for\"?"},
      {"l2(x) > 3 in trian", "did you mean \"train\"?"},
      {"l2(x) > 3 in global", "train, eval or predict"},
      {"l2(x) > 3 at 2", "\"rank\" is expected"},
      {"l2(x) > 3 at rank x", "the number of a worker"},
      {"l2(x) > 3 as erorr", "did you mean \"error\"?"},
      {"l2(x) > 3 )", "the rule could end here"},
      {"loss > 3", "a tensor is read by a function"},
      {"l2 > 3", "no number and no function"},
      {"mediam(l2(x), 3 steps) > 1", "did you mean \"median\"?"},
      {"median(l2(x)) > 1", "\", N steps)\" is expected"},
      {"median(l2(x), 200000 steps) > 1", "from 1 to 100000"},
      {"mean(loss, 10 steps) > 1", "as in mean(value(loss), 50 steps)"},
      {"l2(median(x, 3 steps)) > 1", "l2 reads a tensor"},
      {"l2() > 1", "its name is expected"},
      {"l2(\"x) > 1", "not closed"},
      {"l2(/(/) > 1", "does not compile"},
      {"l2(@no-such) > 1", "the name of a collection"},
      {"l2(x) > 12abc", "no number"},
      {"l2(x) > @y", "tensors stand within a function"},
      {"l2(x) > 3 # hi", "means nothing here"},
      {"step > 3", "reads no tensor"},
      {"all(step > 3)", "nothing within it reads one"},
      {"max_over(l2(x) > 1) > 1", "a number is expected"},
      {"share(l2(x)) > 1", "a condition is expected"},
      {"l2(gradient/*) > l2(weight/*)", "two sets of tensors"},
      {"l2(gradient/{p}) > l2({q})", "two sets of tensors"},
      {"l2(gradient/{p}) > l2(weight/*)", "two sets of tensors"},
      {"l2(x) > 1\xff", "UTF-8"},
  };
  for (const auto& [text, part] : kFaults) {
    const std::string message = fault(text);
    EXPECT_NE(message.find(part), std::string::npos) << text << "\n" << message;
  }
}

TEST(ParseExpression, IsBounded) {
  const std::string deep = std::string(5'000, '(') + "l2(x)" + std::string(4'000, ')');
  EXPECT_NE(fault(deep).find("levels deep"), std::string::npos);
  EXPECT_NE(fault(std::string(5'000, '-') + "l2(x) > 1").find("levels deep"), std::string::npos);
  std::string nots;
  for (int i = 0; i < 2'000; ++i) nots += "not ";
  EXPECT_NE(fault(nots + "l2(x) > 1").find("levels deep"), std::string::npos);
  std::string sum = "l2(x) > 1";
  for (int i = 0; i < 1'000; ++i) sum += "+1";
  EXPECT_NE(fault(sum).find("more than 1000 parts"), std::string::npos);
  EXPECT_NE(fault(std::string(20'000, ' ')).find("at most 10000 bytes"), std::string::npos);
}

TEST(ParseExpression, WhichTensorsAPartGoesOver) {
  const auto leader = [](std::string_view text) -> std::string {
    const auto parsed = parse_expression(text);
    if (!parsed.ok()) return parsed.status().message();
    const int number = parsed->scopes[0].leader;
    return number < 0 ? "" : parsed->selectors[static_cast<std::size_t>(number)].text();
  };
  EXPECT_EQ(leader("value(loss) > l2(gradient/*)"), "gradient/*");
  EXPECT_EQ(leader("l2({p}) < l2(gradient/{p})"), "gradient/{p}");
  EXPECT_EQ(leader("value(loss) > value(limit)"), "loss");
  EXPECT_EQ(leader("max_over(l2(gradient/*)) > max_over(l2(weight/*))"), "");
  EXPECT_EQ(leader("l2(a*) > max_over(l2(b*))"), "a*");
}

}  // namespace
}  // namespace trainwarden::rules::language
