// Jobs as answers of the page.
#pragma once

#include "data/format/json.h"
#include "ui/answers/services.h"
#include "ui/work_answers/work_desk.h"
#include "work/catalogue/job_table.h"
#include "work/catalogue/list_item.h"

namespace trainwarden::work_answers {

// The run at this path: its name, and its id where the page shows the folder that it lies in.
format::OrderedJson run_json(const std::string& run, const answers::Services& services);

// A row of the list.
format::OrderedJson row_json(const catalogue::CataloguedJob& job, const catalogue::MetricsByName& metrics);

// All of it but its files. The text of the user's file has no secrets that are known by their shape. Errors of its
// exit record and of its rules' folder.
Result<format::OrderedJson> job_json(const WorkDesk::JobNow& job, const answers::Services& services);

// What became of a request to stop or to resume it.
format::OrderedJson standing_json(const jobs::JobRecord& job, const jobs::Transition& now);

}  // namespace trainwarden::work_answers
