// RecordChoice: which workers, steps and tensors of a run an export takes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "read/transfer/target_writer.h"
#include "trainwarden/transfer.h"

namespace trainwarden::transfer {

class RecordChoice {
 public:
  // kInvalidArgument for a pattern that does not compile.
  static Result<RecordChoice> compile(const ExportChoice& choice);

  // Takes in the names that a refresh of the trial brought. kNotFound for an unknown collection or worker.
  Status update(const Trial& trial);

  bool wants_worker(std::string_view worker) const;
  bool wants_step(std::int64_t global_step, Mode mode, std::int64_t mode_step) const;
  bool wants_tensor(const std::string& tensor) const { return all_tensors_ || tensors_.count(tensor) > 0; }

 private:
  explicit RecordChoice(const ExportChoice& choice);

  ExportChoice choice_;
  bool all_tensors_;
  std::unordered_set<std::string> tensors_;
};

// The choice as one line of JSON, for telling whether two are the same.
std::string describe(const ExportChoice& choice);

}  // namespace trainwarden::transfer
