// The list of runs: how a run comes into the catalogue, and how it is shown from there.
#pragma once

#include <string>
#include <vector>

#include "ui/cli/options/list_options.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/table.h"
#include "work/catalogue/run_table.h"

namespace trainwarden::cli {

// For catalogue::ReadListedRun.
catalogue::CataloguedRun read_listed_run(const storage::Location& run);

// Its labels, as numbers where they are some; as facts `steps`, `last_step`, `rules`, `fired`, and `loss`, the newest.
ListItem list_item_of(const catalogue::CataloguedRun& run);

// The words for where a run stands, each once.
std::vector<std::string> run_status_words();

// With columns for values that they have.
class RunListTable {
 public:
  explicit RunListTable(std::vector<std::string> columns);
  void add(const catalogue::CataloguedRun& run, const ListItem& item);
  std::string to_string() const { return table_.to_string(); }

 private:
  std::vector<std::string> columns_;
  Table table_;
  std::int64_t now_unix_ns_;
};
// `folder` is that of the runs.
OrderedJson row_json(const catalogue::CataloguedRun& run, const storage::Location& folder);

}  // namespace trainwarden::cli
