// TraceFile: an operator trace as a file, compressed when its name ends in .gz.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "read/transfer/operator_trace.h"
#include "read/transfer/output_file.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

class TraceFile : public transfer::TraceSink {
 public:
  // The file has its name when it is whole, and replaces what has it.
  static Result<std::unique_ptr<TraceFile>> create(const std::filesystem::path& path);
  virtual Status commit() = 0;
  std::uint64_t bytes() const { return tally_.bytes; }  // on the disk

 protected:
  transfer::OutputTally tally_;
};

}  // namespace trainwarden::cli
