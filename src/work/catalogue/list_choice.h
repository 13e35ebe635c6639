// Which entries of a list are shown, and in which order: what lists of jobs and of runs share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/catalogue/list_item.h"

namespace trainwarden::catalogue {

struct ListChoice {
  std::vector<std::string> statuses;
  std::vector<std::string> known_statuses;  // the words that may stand in `statuses`
  std::string name;                         // a pattern
  std::string experiment;
  std::string since;
  std::vector<std::string> filters;  // "lr > 0.1", as parse_search_filter() takes them
  std::vector<std::string> columns;
  std::string sort;
  bool reverse = false;
};

// The places of those items that are shown, in their order. All filters have to fit; one on a value that an item does
// not have fits only as NotExists. Without a sort key the newest come first; by a value the smallest, numbers before
// texts; what has no such value comes last in any case. kInvalidArgument for a pattern, a time or a filter that is
// none, a status that there is not, and a value that no item has.
Result<std::vector<std::size_t>> choose(const std::vector<ListItem>& items, const ListChoice& choice,
                                        std::int64_t now_unix_ns);

// Whether it names a value that none of the items has among its hyper-parameters and labels, so that metrics are worth
// reading.
bool needs_metrics(const std::vector<ListItem>& items, const ListChoice& choice);

}  // namespace trainwarden::catalogue
