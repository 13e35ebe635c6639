// The collections manifest that each worker of smdebug writes once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/collection.h"
#include "trainwarden/status.h"

namespace trainwarden::foreign {

struct SmdebugCollection {
  // keep: none where reduction_config is null; else whole when save_raw_tensor, shape when save_shape, statistics when
  // any reduction is named. save: none where save_config is null.
  Collection collection;
  std::vector<std::string> reductions;  // "abs_mean", "l2_norm"
  bool save_histogram = true;
  friend bool operator==(const SmdebugCollection&, const SmdebugCollection&) = default;
};

struct SmdebugManifest {
  int num_workers = 1;
  std::vector<SmdebugCollection> collections;  // by name
  friend bool operator==(const SmdebugManifest&, const SmdebugManifest&) = default;
};

std::string encode_smdebug_manifest(const SmdebugManifest& manifest);
Result<SmdebugManifest> decode_smdebug_manifest(std::string_view json);  // kDataLoss

}  // namespace trainwarden::foreign
