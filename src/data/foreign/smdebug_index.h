// The JSON beside each event file of smdebug: which tensors lie where in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/mode.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::foreign {

// One record of the event file, header and footer included.
struct SmdebugTensorPlace {
  std::string tag;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const SmdebugTensorPlace&, const SmdebugTensorPlace&) = default;
};

struct SmdebugShape {
  std::string tensor;
  std::string original_name;
  Shape shape;
  friend bool operator==(const SmdebugShape&, const SmdebugShape&) = default;
};

struct SmdebugIndex {
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = 0;
  std::string event_file;  // relative to the run's folder; empty when there are only shapes, or the index does not say
  std::vector<SmdebugTensorPlace> tensors;
  std::vector<SmdebugShape> shapes;
  friend bool operator==(const SmdebugIndex&, const SmdebugIndex&) = default;
};

std::string encode_smdebug_index(const SmdebugIndex& index);

// Keeps its memory from one document to the next. One thread at a time.
class SmdebugIndexParser {
 public:
  SmdebugIndexParser();
  ~SmdebugIndexParser();
  SmdebugIndexParser(const SmdebugIndexParser&) = delete;
  SmdebugIndexParser& operator=(const SmdebugIndexParser&) = delete;

  // kDataLoss, with what was expected and found, when `meta` or a field of it is missing or of a wrong type.
  // tensor_payload, shape_payload and event_file_name may be missing or null. `index` is overwritten; its memory is
  // used again.
  Status parse(std::string_view json, SmdebugIndex& index);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace trainwarden::foreign
