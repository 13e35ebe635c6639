// What a Trial holds.
#pragma once

#include <filesystem>
#include <memory>
#include <utility>

#include "read/trial/run_reader.h"
#include "store/storage/location.h"
#include "trainwarden/trial.h"

namespace trainwarden {

class Trial::Impl {
 public:
  Impl(storage::Location location, std::unique_ptr<trial::RunReader> run)
      : location_(std::move(location)), path_(location_.path()), run_(std::move(run)) {}

  const storage::Location& location() const { return location_; }
  const std::filesystem::path& path() const { return path_; }
  trial::RunReader& run() { return *run_; }

 private:
  const storage::Location location_;
  const std::filesystem::path path_;  // its address
  const std::unique_ptr<trial::RunReader> run_;
};

}  // namespace trainwarden
