#include "work/jobs/job_naming.h"

#include <algorithm>

#include "core/base/rfc3339.h"

namespace trainwarden::jobs {
namespace {

// "-2026-11-23-13-05-09-123"
std::string time_ending(std::int64_t unix_ns) {
  std::string text = "-" + format_rfc3339(unix_ns, 3);
  text.pop_back();  // the Z
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == 'T' || c == ':' || c == '.'; }, '-');
  return text;
}

std::string base_of(const JobSpec& spec) {
  if (!spec.base_name.empty()) return spec.base_name;
  const std::string& file = spec.entry_point.empty() ? spec.program.front() : spec.entry_point;
  return std::filesystem::path(file).stem().string();
}

// Letters, digits, and single hyphens between them.
std::string as_job_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "job" : name;
}

}  // namespace

std::string make_job_name(const JobSpec& spec, std::int64_t unix_ns) {
  const std::string ending = time_ending(unix_ns);
  return as_job_name(as_job_name(base_of(spec)).substr(0, kMaxJobNameBytes - ending.size())) + ending;
}

}  // namespace trainwarden::jobs
