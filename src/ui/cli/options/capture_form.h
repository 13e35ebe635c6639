// CaptureForm: what the user of `capture` wants changed, as options and as the request that goes into the run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "data/format/control_record.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::cli {

struct CaptureForm {
  std::vector<std::string> include_collections;
  std::vector<std::string> include;
  std::vector<std::string> exclude_collections;
  std::int64_t save_interval = 0;  // 0: not said
  std::string keep;
  std::string budget;
  bool only = false;
  bool reset = false;

  bool asks_for_nothing() const;
};

void add_capture_form(CLI::App& command, CaptureForm& form);

// The request, without key and time. --save-interval and --keep hold for what is included here, or, when nothing is,
// for the collections that do not say otherwise. kInvalidArgument for what no hook would take.
Result<format::CaptureRequest> make_request(const CaptureForm& form);

// kInvalidArgument when the hooks of this run would refuse it, as far as that can be known from the run.
Status check_request(const format::CaptureRequest& request, const Trial& trial);

}  // namespace trainwarden::cli
