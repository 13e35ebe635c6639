// A run as TensorBoard shows it, written beside the training.
#pragma once

#include <filesystem>
#include <memory>

#include "trainwarden/hook.h"
#include "trainwarden/transfer.h"
#include "trainwarden/trial.h"

namespace bert {

// One thread.
class Board {
 public:
  explicit Board(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Adds the steps of the hook's run that have ended since. Throws std::runtime_error where that cannot begin: the hook
  // is off, or the folder holds something else. What fails later is told on stderr, once, and the training goes on.
  void update(trainwarden::Hook& hook);
  // The rest, after the hook is closed.
  void finish();

 private:
  void begin(trainwarden::Hook& hook);
  void tell(const trainwarden::Status& status);

  const std::filesystem::path folder_;
  bool failed_ = false;
  std::unique_ptr<trainwarden::Trial> trial_;
  std::unique_ptr<trainwarden::Export> export_;
};

}  // namespace bert
