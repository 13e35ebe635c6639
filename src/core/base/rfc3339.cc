#include "core/base/rfc3339.h"

#include <chrono>

#include <fmt/format.h>

namespace trainwarden {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;

// Takes the text apart from its start; `ok` says whether all that was asked for was there.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  int number(int digits) {
    int value = 0;
    for (int i = 0; i < digits; ++i) {
      if (!at_digit()) return fail();
      value = value * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return value;
  }
  // One of the characters, or 0.
  char one_of(std::string_view wanted) {
    if (text_.empty() || wanted.find(text_.front()) == std::string_view::npos) {
      fail();
      return 0;
    }
    const char found = text_.front();
    text_.remove_prefix(1);
    return found;
  }
  bool at_digit() const { return !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; }
  bool at(char c) const { return !text_.empty() && text_.front() == c; }
  bool done() const { return ok_ && text_.empty(); }
  bool ok() const { return ok_; }
  int fail() {
    ok_ = false;
    return 0;
  }

 private:
  std::string_view text_;
  bool ok_ = true;
};

std::int64_t fraction(Scanner& scanner) {
  std::int64_t ns = 0;
  int digits = 0;
  if (!scanner.at_digit()) scanner.fail();
  for (; scanner.at_digit(); ++digits) {
    const int digit = scanner.number(1);
    if (digits < 9) ns = ns * 10 + digit;
  }
  for (; digits < 9; ++digits) ns *= 10;
  return ns;
}

std::int64_t offset_minutes(Scanner& scanner) {
  const char sign = scanner.one_of("Zz+-");
  if (sign != '+' && sign != '-') return 0;
  const int hours = scanner.number(2);
  scanner.one_of(":");
  const int minutes = scanner.number(2);
  if (hours > 23 || minutes > 59) scanner.fail();
  return (sign == '-' ? -1 : 1) * (hours * 60 + minutes);
}

}  // namespace

std::string format_rfc3339(std::int64_t unix_ns, int digits) {
  namespace ch = std::chrono;
  std::int64_t day = unix_ns / kDay;
  std::int64_t ns = unix_ns % kDay;
  if (ns < 0) {
    ns += kDay;
    --day;
  }
  const ch::year_month_day date{ch::sys_days(ch::days(day))};
  const std::int64_t second = ns / kSecond;
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), second / 3600,
                                 second / 60 % 60, second % 60);
  if (digits > 0) text += fmt::format(".{:09}", ns % kSecond).substr(0, static_cast<std::size_t>(digits) + 1);
  return text + "Z";
}

std::optional<std::int64_t> parse_rfc3339(std::string_view text) {
  namespace ch = std::chrono;
  Scanner scanner(text);
  const int year = scanner.number(4);
  scanner.one_of("-");
  const int month = scanner.number(2);
  scanner.one_of("-");
  const int day = scanner.number(2);
  scanner.one_of("Tt ");
  const int hour = scanner.number(2);
  scanner.one_of(":");
  const int minute = scanner.number(2);
  scanner.one_of(":");
  const int second = scanner.number(2);
  std::int64_t ns = 0;
  if (scanner.at('.')) {
    scanner.one_of(".");
    ns = fraction(scanner);
  }
  const std::int64_t offset = offset_minutes(scanner);
  const ch::year_month_day date{ch::year(year), ch::month(static_cast<unsigned>(month)),
                                ch::day(static_cast<unsigned>(day))};
  if (!scanner.done() || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  if (year < 1678 || year > 2261) return std::nullopt;  // 64 bits of nanoseconds
  const std::int64_t days = ch::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds = days * 86'400 + hour * 3600 + minute * 60 + second - offset * 60;
  return seconds * kSecond + ns;
}

}  // namespace trainwarden
