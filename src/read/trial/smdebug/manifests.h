// Manifests: the collection manifests of a folder of smdebug's, one for each worker.
//
// smdebug writes each once, early, so that tensors that it saw later are not in it. Others may write them again: they
// are looked at again at each refresh.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/storage/storage.h"
#include "trainwarden/collection.h"
#include "trainwarden/run_loss.h"
#include "trainwarden/status.h"

namespace trainwarden::trial {

// One thread at a time.
class Manifests {
 public:
  explicit Manifests(const storage::Storage& storage) : storage_(storage) {}

  // Reads those that are new or have changed. One that cannot be used is a loss, until it can. An error is the
  // storage's, when it lists them.
  Status refresh();

  // Also those whose manifest cannot be used.
  std::vector<std::string> workers() const;
  int announced_workers() const;  // how many there will be, as far as a manifest says; 0 when none does
  std::vector<Collection> take_collections() { return std::exchange(collections_, {}); }
  std::vector<RunLoss> losses() const;

 private:
  struct Manifest {
    std::string path;
    std::optional<std::size_t> content_hash;
    Status status;
    int announced_workers = 0;
  };
  void read(Manifest& manifest);

  const storage::Storage& storage_;
  std::map<std::string, Manifest> by_worker_;
  std::vector<Collection> collections_;  // since they were last taken
};

}  // namespace trainwarden::trial
