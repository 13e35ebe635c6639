// How what is ours is called in a folder of smdebug's.
#pragma once

#include <string>
#include <string_view>

#include "data/foreign/smdebug_manifest.h"
#include "trainwarden/collection.h"
#include "trainwarden/dtype.h"

namespace trainwarden::transfer {

// "worker_3" of "rank-00003"; other names stand as they are.
std::string smdebug_worker(std::string_view worker);

// How a collection is described in a manifest.
foreign::SmdebugCollection smdebug_collection(Collection collection);

// Why smdebug 1.0.34 cannot read a tensor that is written all the same: its dtype has a number but no counterpart in
// its reader. Empty when it can. Source: smdebug's event_file_reader.
std::string unreadable_for_smdebug(DType dtype);

}  // namespace trainwarden::transfer
