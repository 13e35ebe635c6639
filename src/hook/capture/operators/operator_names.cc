#include "hook/capture/operators/operator_names.h"

#include <cstring>

namespace trainwarden::capture {
namespace {

bool is_same(const char* name, const char* kept) {
  return std::strncmp(name, kept, OperatorNames::kMaxNameBytes) == 0;
}

}  // namespace

OperatorNames::OperatorNames() {
  std::uint32_t number = 0;
  keep("(other)", number);
}

std::uint32_t OperatorNames::number_of(const char* name, NameCache& cache) {
  if (name == nullptr) return kOther;
  NameCache::Entry& entry = cache.entry_for(name);
  if (entry.address == name && is_same(name, entry.text)) return entry.number;
  std::uint32_t number = kOther;
  const std::pmr::string* const kept = keep({name, ::strnlen(name, kMaxNameBytes)}, number);
  if (kept != nullptr) entry = {name, kept->c_str(), number};
  return number;
}

std::uint32_t OperatorNames::number_of(std::string_view name) {
  std::uint32_t number = kOther;
  keep(name.substr(0, kMaxNameBytes), number);
  return number;
}

// nullptr: there is no room for it.
const std::pmr::string* OperatorNames::keep(std::string_view name, std::uint32_t& number) {
  const std::lock_guard lock(mutex_);
  if (const auto found = numbers_.find(name); found != numbers_.end()) {
    number = found->second;
    return &names_[number];
  }
  if (names_.size() == kMaxNames) return nullptr;
  const std::pmr::string& kept = names_.emplace_back(name);
  try {
    number = static_cast<std::uint32_t>(names_.size() - 1);
    numbers_.emplace(kept, number);
  } catch (...) {
    names_.pop_back();
    throw;
  }
  return &kept;
}

std::string OperatorNames::name(std::uint32_t number) const {
  const std::lock_guard lock(mutex_);
  return std::string(names_[number]);
}

}  // namespace trainwarden::capture
