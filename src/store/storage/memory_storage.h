// MemoryStorage: a store without a disk, for tests and fuzzing.
#pragma once

#include <memory>
#include <string>

#include "core/base/clock.h"
#include "store/storage/storage.h"

namespace trainwarden::storage {

class MemoryStorage : public Storage {
 public:
  // For tests: the whole content of a file, to look at or to damage. The file must exist / is created.
  virtual std::string content(const std::string& path) const = 0;
  virtual void set_content(const std::string& path, std::string content) = 0;
  // As after a power loss: everything that was not synced is gone.
  virtual void drop_unsynced() = 0;
};

// Its files have the times of `clock`, which must outlive it.
std::unique_ptr<MemoryStorage> create_memory_storage(const Clock& clock = system_clock());

}  // namespace trainwarden::storage
