// A job's text with other values, so that what is kept of the job says what it ran with.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "trainwarden/status.h"
#include "work/document/document.h"

namespace trainwarden::jobs {

struct SpecChange {
  std::map<std::string, document::DocumentValue> hyperparameters;  // set, or added
  std::string source_dir;  // a folder with the sources and their dependencies; empty: as it is
};

// The text of a job with these changes, as JSON; of an array of jobs, one that is none. kInvalidArgument when the text
// is no table.
Result<std::string> changed_spec(std::string_view text, const SpecChange& change);

// "0.1", "3" and "true" as a job's file has them without quotes; all else is a text.
document::DocumentValue scalar_value(std::string_view text);

// "lr=0.1": a name and what stands behind it. kInvalidArgument; `option` is for the message.
struct Assignment {
  std::string name;
  std::string text;
};
Result<Assignment> parse_assignment(std::string_view text, std::string_view option);

}  // namespace trainwarden::jobs
