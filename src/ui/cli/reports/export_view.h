// What an export prints for the user: where it is, and what came of it.
#pragma once

#include <chrono>
#include <cstdint>

#include "trainwarden/transfer.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/status_line.h"

namespace trainwarden::cli {

// The step, on standard error when a person looks at it.
class ExportView {
 public:
  explicit ExportView(const Trial& trial) : trial_(trial), line_(stderr, terminal_of(stderr)) {}
  void show(std::int64_t global_step);

 private:
  const Trial& trial_;
  StatusLine line_;
  std::chrono::steady_clock::time_point shown_{};
};

void print_export(const ExportOptions& options, const ExportReport& report);
OrderedJson json_of(const Trial& trial, const ExportOptions& options, const ExportReport& report);

}  // namespace trainwarden::cli
