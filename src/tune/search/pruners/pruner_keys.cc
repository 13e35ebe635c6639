#include "tune/search/pruners/pruner_keys.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::tune {
namespace {

constexpr std::size_t kMaxPrunerKeys = 32;

Status invalid_keys(std::string message) {
  return Status(Code::kInvalidArgument, std::move(message));
}

}  // namespace

Result<PrunerKeys> PrunerKeys::parse(std::string_view text) {
  PrunerKeys keys;
  const std::size_t colon = std::min(text.find(':'), text.size());
  keys.name_ = std::string(trim(text.substr(0, colon)));
  if (colon == text.size()) return keys;
  for (const std::string& item : split_list(text.substr(colon + 1))) {
    const std::size_t equals = item.find('=');
    const std::string key(equals == std::string::npos ? "" : trim(item.substr(0, equals)));
    const std::string value(trim(equals == std::string::npos ? std::string_view(item) : item.substr(equals + 1)));
    if (key.empty() && (equals != std::string::npos || !keys.items_.empty())) {
      return invalid_keys(fmt::format("pruner {}: expected key=value, found \"{}\"", keys.name_, printable(item)));
    }
    keys.items_.push_back({key, value});
    if (keys.items_.size() > kMaxPrunerKeys) {
      return invalid_keys(fmt::format("pruner {}: expected at most {} keys", keys.name_, kMaxPrunerKeys));
    }
  }
  if (keys.items_.empty()) {
    return invalid_keys(fmt::format("pruner {}: expected key=value behind the colon, found nothing", keys.name_));
  }
  return keys;
}

void PrunerKeys::name_first(std::string_view key) {
  if (!items_.empty() && items_[0].key.empty()) items_[0].key = key;
}

void PrunerKeys::require(std::string_view key, std::string_view example) {
  const bool is_there = std::any_of(items_.begin(), items_.end(), [&](const Item& item) { return item.key == key; });
  if (is_there || !mistake_.ok()) return;
  mistake_ = invalid_keys(fmt::format("pruner {}: expected a value of {}, as in {}; found none", name_, key, example));
}

PrunerKeys::Item* PrunerKeys::ask(std::string_view key) {
  asked_.emplace_back(key);
  Item* found = nullptr;
  for (Item& item : items_) {
    if (item.key != key) continue;
    if (found != nullptr) reject(item, "one value, found two");
    item.is_asked = true;
    found = &item;
  }
  return found;
}

void PrunerKeys::reject(const Item& item, const std::string& expected) {
  if (!mistake_.ok()) return;
  mistake_ = invalid_keys(
      fmt::format("pruner {}: {}: expected {}, found \"{}\"", name_, item.key, expected, printable(item.value)));
}

double PrunerKeys::number(std::string_view key, double fallback, double min, double max) {
  const Item* item = ask(key);
  if (item == nullptr) return fallback;
  const auto value = parse_double(item->value);
  if (value && *value >= min && *value <= max) return *value;
  reject(*item, fmt::format("a number between {} and {}", min, max));
  return fallback;
}

std::optional<double> PrunerKeys::number_if_given(std::string_view key) {
  const Item* item = ask(key);
  if (item == nullptr) return std::nullopt;
  const auto value = parse_double(item->value);
  if (value && std::isfinite(*value)) return value;
  reject(*item, "a number");
  return std::nullopt;
}

std::int64_t PrunerKeys::whole(std::string_view key, std::int64_t fallback, std::int64_t min, std::int64_t max) {
  const Item* item = ask(key);
  if (item == nullptr) return fallback;
  const auto value = parse_int(item->value);
  if (value && *value >= min && *value <= max) return *value;
  reject(*item, fmt::format("a whole number between {} and {}", min, max));
  return fallback;
}

std::optional<std::int64_t> PrunerKeys::whole_or_auto(std::string_view key, std::optional<std::int64_t> fallback,
                                                      std::int64_t min, std::int64_t max) {
  const Item* item = ask(key);
  if (item == nullptr) return fallback;
  if (item->value == "auto") return std::nullopt;
  const auto value = parse_int(item->value);
  if (value && *value >= min && *value <= max) return *value;
  reject(*item, fmt::format("auto or a whole number between {} and {}", min, max));
  return fallback;
}

bool PrunerKeys::flag(std::string_view key, bool fallback) {
  const Item* item = ask(key);
  if (item == nullptr) return fallback;
  const auto value = parse_bool(item->value);
  if (!value) reject(*item, "true or false");
  return value.value_or(fallback);
}

Status PrunerKeys::status() const {
  for (const Item& item : items_) {
    if (item.is_asked) continue;
    const std::string found = item.key.empty() ? item.value : item.key;
    if (asked_.empty()) {
      return invalid_keys(fmt::format("pruner {}: expected no keys, found \"{}\"", name_, printable(found)));
    }
    return invalid_keys(fmt::format("pruner {}: expected one of the keys {}, found \"{}\"{}", name_,
                                    fmt::join(asked_, ", "), printable(found), did_you_mean(found, asked_)));
  }
  return mistake_;
}

}  // namespace trainwarden::tune
