// Times for people and for programs.
#pragma once

#include <cstdint>
#include <string>

namespace trainwarden::cli {

// In the machine's time zone: "2026-11-20 18:45:03". "" for 0, which stands for no time.
std::string local_time_text(std::int64_t unix_ns);

}  // namespace trainwarden::cli
