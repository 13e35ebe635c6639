// ListFilter: what a list's filters leave of its items.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/regex.h"
#include "work/catalogue/component_search.h"
#include "work/catalogue/list_choice.h"

namespace trainwarden::catalogue {

class ListFilter {
 public:
  // kInvalidArgument for a pattern, a time or a condition that is none.
  static Result<ListFilter> create(const ListChoice& choice, std::int64_t now_unix_ns);

  bool takes(const ListItem& item) const;
  const std::vector<SearchFilter>& conditions() const { return conditions_; }

 private:
  std::set<std::string> statuses_;
  std::string experiment_;
  std::optional<Regex> name_;
  std::optional<std::int64_t> since_;
  std::vector<SearchFilter> conditions_;
};

}  // namespace trainwarden::catalogue
