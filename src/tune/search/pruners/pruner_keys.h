// PrunerKeys: what a pruner is asked for in text: "percentile:25,startup_trials=10".
//
//   text = name [":" item *("," item)]        item = key "=" value, or, as the first, a value alone
//
// A pruner asks for each key that it has, with a default and the range; then status() says what was wrong with the
// text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::tune {

class PrunerKeys {
 public:
  static Result<PrunerKeys> parse(std::string_view text);

  const std::string& name() const { return name_; }
  // The value without a key belongs to this one. Before anything else is asked.
  void name_first(std::string_view key);

  // A mistake where it is not there; the example says how it is written.
  void require(std::string_view key, std::string_view example);

  // `max` and `min` are included. A value that is none of these is a mistake, and the default is answered.
  double number(std::string_view key, double fallback, double min, double max);
  std::int64_t whole(std::string_view key, std::int64_t fallback, std::int64_t min, std::int64_t max);
  bool flag(std::string_view key, bool fallback);
  std::optional<double> number_if_given(std::string_view key);
  // None for "auto", and where the key is not there and `fallback` is none.
  std::optional<std::int64_t> whole_or_auto(std::string_view key, std::optional<std::int64_t> fallback,
                                            std::int64_t min, std::int64_t max);

  // kInvalidArgument: the first mistake of a value, or a key that was not asked for, with those that were.
  Status status() const;

 private:
  struct Item {
    std::string key, value;
    bool is_asked = false;
  };

  Item* ask(std::string_view key);
  void reject(const Item& item, const std::string& expected);

  std::string name_;
  std::vector<Item> items_;
  std::vector<std::string> asked_;
  Status mistake_;
};

}  // namespace trainwarden::tune
