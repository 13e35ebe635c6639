// Bundle: the values of one worker and step as one safetensors document, whose entries are the tensors by name.
//
// What safetensors cannot say is said in its metadata: complex tensors are stored as their components with one more
// dimension of size 2, strings as their bytes one after the other (docs/format/records.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "trainwarden/dtype.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_value.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::format {

// As what the elements of this dtype are stored.
DType stored_dtype(DType dtype);

// A tensor to be stored whole.
struct KeptTensor {
  std::uint32_t id = 0;
  DType dtype = DType::kFloat32;
  Shape shape;
  ByteSpan data;                         // packed; borrowed
  std::span<const std::string> strings;  // for kString, in row-major order; borrowed
};

// How the tensors lie in the payload: the header, then the data parts of the tensors in `order`, nothing between.
struct BundleLayout {
  std::string header;
  std::vector<std::size_t> order;  // indexes into the tensors; a record's row is an index into this
  std::uint64_t payload_bytes = 0;
};

// names[i] is the name of tensors[i], `words` more metadata. kInvalidArgument when a name is there twice, or data do
// not fit dtype and shape.
Result<BundleLayout> plan_bundle(std::span<const KeptTensor> tensors, std::span<const std::string_view> names,
                                 const std::map<std::string, std::string>& words = {});

// The bytes of one tensor, for a gathered write: one part, or one for each string.
void append_data_parts(const KeptTensor& tensor, std::vector<ByteSpan>& parts);

struct BundleEntry {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::uint64_t begin = 0;  // of its bytes in the payload
  std::uint64_t end = 0;
  std::vector<std::uint64_t> string_lengths;  // in bytes, for kString
};

// The entries in the order of their bytes; a record's row is an index into them. `prefix` is the start of a payload of
// `payload_bytes` bytes: kNeedMore when the header is longer (safetensors_header_bytes says how long it is).
Result<std::vector<BundleEntry>> decode_bundle(ByteSpan prefix, std::uint64_t payload_bytes);

// `bytes` are the entry's own, payload[begin, end).
Result<TensorValue> decode_bundle_value(const BundleEntry& entry, ByteSpan bytes);

}  // namespace trainwarden::format
