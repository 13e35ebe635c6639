// SlurmCommands: Slurm's own programs, which are all that we know of it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::slurm {

enum class SlurmTool : std::uint8_t { kSbatch, kSqueue, kScontrol, kScancel, kSacct };
std::string_view name(SlurmTool tool);  // "sbatch"

inline constexpr std::chrono::seconds kCommandTimeout{30};

// Const methods may be called from many threads at once.
class SlurmCommands {
 public:
  // Looks for them once, in the folders of `path`, "/usr/bin:/bin"; from then on they are started by their absolute
  // paths. kNotFound when sbatch, squeue, scontrol or scancel is not there.
  static Result<SlurmCommands> find(std::string_view path);
  static Result<SlurmCommands> find();  // in $PATH

  // What it printed. The error says what has become of the question:
  //   kUnavailable        nobody knows: the controller does not answer, or it took too long and was killed. Try again.
  //                       It says nothing about any job, and what was asked for may have been done.
  //   kNotFound           there is no such job, or no longer
  //   kInvalidArgument    Slurm has refused, with its own words
  //   kResourceExhausted  it has printed more than 64 MiB
  Result<std::string> run(SlurmTool tool, const std::vector<std::string>& arguments,
                          std::chrono::milliseconds timeout = kCommandTimeout) const;

 private:
  std::array<std::string, 5> paths_;  // by tool; empty: not there
};

// What the cluster's configuration says of this; empty when it says nothing. Errors as SlurmCommands::run().
Result<std::string> config_value(const SlurmCommands& commands, std::string_view field);

// Which of these errors a program means that has failed with these words on its standard error.
Status refusal(SlurmTool tool, std::string_view errors);

}  // namespace trainwarden::slurm
