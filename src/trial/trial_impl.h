// What a Trial holds.
#pragma once

#include <filesystem>
#include <memory>
#include <utility>

#include "trainwarden/trial.h"
#include "trial/open_run.h"

namespace trainwarden {

class Trial::Impl {
 public:
  Impl(std::filesystem::path path, std::unique_ptr<trial::OpenRun> run)
      : path_(std::move(path)), run_(std::move(run)) {}

  const std::filesystem::path& path() const { return path_; }
  trial::OpenRun& run() { return *run_; }

 private:
  const std::filesystem::path path_;
  const std::unique_ptr<trial::OpenRun> run_;
};

}  // namespace trainwarden
