#include "actions/by_verdict/action.h"

#include <fmt/format.h>

namespace trainwarden::actions::by_verdict {

std::string idempotency_key(const FiredVerdict& fired) {
  std::string key;
  for (const char c : fired.rule_id) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    key += upper ? static_cast<char>(c - 'A' + 'a') : plain ? c : '-';
  }
  return fmt::format("{}-{}", key, fired.global_step);
}

}  // namespace trainwarden::actions::by_verdict
