#include "tune/optuna/python_time.h"

#include <cstdio>
#include <ctime>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::tune {
namespace {

constexpr int kMinYear = 1970, kMaxYear = 2200;

// "243084" of ".243084": its nanoseconds. Moves `at` behind it.
std::int64_t fraction_ns(const std::string& text, std::size_t& at) {
  std::int64_t ns = 0, unit = 100'000'000;
  for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10) ns += (text[at] - '0') * unit;
  return ns;
}

}  // namespace

Result<std::int64_t> python_local_time(const std::string& text) {
  const Status no_time(Code::kDataLoss,
                       fmt::format("expected a time as 2026-11-27 13:38:13, found {}", printable(text)));
  std::tm parts{};
  int read = 0;
  const int count = std::sscanf(text.c_str(), "%4d-%2d-%2d%*1[ T]%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon,
                                &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &read);
  if (count != 6 || parts.tm_year < kMinYear || parts.tm_year > kMaxYear) return no_time;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  parts.tm_isdst = -1;
  auto at = static_cast<std::size_t>(read);
  std::int64_t ns = 0;
  if (at < text.size() && text[at] == '.') ns = fraction_ns(text, at);
  int hours = 0, minutes = 0, end = 0;
  char sign[2] = "+";
  const bool has_offset = std::sscanf(text.c_str() + at, "%1[+-]%2d:%2d%n", sign, &hours, &minutes, &end) == 3;
  if (at + static_cast<std::size_t>(end) != text.size()) return no_time;
  const std::int64_t offset_s = (sign[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
  const std::int64_t seconds = has_offset ? ::timegm(&parts) - offset_s : std::mktime(&parts);
  return seconds < 0 ? Result<std::int64_t>(no_time) : Result<std::int64_t>(seconds * 1'000'000'000 + ns);
}

}  // namespace trainwarden::tune
