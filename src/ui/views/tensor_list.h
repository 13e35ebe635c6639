// The tensors of a run at a glance.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"
#include "ui/views/shelf.h"

namespace trainwarden::views {

struct ListedTensor {
  std::string id;
  std::string name;
  bool has_shape = false;  // of the newest record that has one
  DType dtype = DType::kFloat32;
  Shape shape;
  // How many records hold it in this form, of all workers together.
  std::uint64_t values = 0;
  std::uint64_t statistics = 0;
  std::uint64_t scalars = 0;
  std::uint64_t reductions = 0;
  std::int64_t first_step = -1;  // global; -1 when no record of it was found
  std::int64_t last_step = -1;
};

struct TensorList {
  std::uint64_t version = 0;                                      // of the run, that it answers for
  std::vector<ListedTensor> tensors;                              // by name
  std::map<std::string, std::vector<std::uint32_t>> collections;  // indices into `tensors`
};

// What the run has written until now. Made once a version of the run, from what came since the last one; lives as long
// as `use`. A step that is damaged is left out.
Result<const TensorList*> tensor_list(OpenRun::Use& use);

// One of them, and the names of its collections. kNotFound.
struct FoundTensor {
  const ListedTensor* tensor = nullptr;
  std::vector<std::string> collections;
};
Result<FoundTensor> find_listed(OpenRun::Use& use, std::string_view name);

}  // namespace trainwarden::views
