// FaultyStorage: another storage whose n-th call fails, for fault injection.
#pragma once

#include <cstdint>
#include <memory>

#include "store/storage/forwarding_storage.h"

namespace trainwarden::storage {

struct FaultPlan {
  std::int64_t fail_call = -1;  // the call with this number (from 0) fails; -1: none
  bool fail_all_after = false;  // and all calls after it
  Code code = Code::kResourceExhausted;
  bool short_write = false;  // a failing append leaves half of its bytes in the file
};

class FaultyStorage : public ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  virtual void set_plan(const FaultPlan& plan) = 0;  // counts again from 0
  virtual std::int64_t calls() const = 0;            // that could have failed, since set_plan
};

// `base` must outlive it.
std::unique_ptr<FaultyStorage> create_faulty_storage(Storage& base);

}  // namespace trainwarden::storage
