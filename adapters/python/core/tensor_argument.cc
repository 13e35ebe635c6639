#include "tensor_argument.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "errors.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;
using TypeCode = nb::dlpack::dtype_code;

struct KnownType {
  TypeCode code;
  std::uint8_t bits;
  DType dtype;
};

constexpr std::array kDlpackTypes = {
    KnownType{TypeCode::Bool, 8, DType::kBool},
    KnownType{TypeCode::Int, 8, DType::kInt8},
    KnownType{TypeCode::Int, 16, DType::kInt16},
    KnownType{TypeCode::Int, 32, DType::kInt32},
    KnownType{TypeCode::Int, 64, DType::kInt64},
    KnownType{TypeCode::UInt, 8, DType::kUInt8},
    KnownType{TypeCode::UInt, 16, DType::kUInt16},
    KnownType{TypeCode::UInt, 32, DType::kUInt32},
    KnownType{TypeCode::UInt, 64, DType::kUInt64},
    KnownType{TypeCode::Float, 16, DType::kFloat16},
    KnownType{TypeCode::Bfloat, 16, DType::kBFloat16},
    KnownType{TypeCode::Float, 32, DType::kFloat32},
    KnownType{TypeCode::Float, 64, DType::kFloat64},
    KnownType{TypeCode::Float8_E4M3FN, 8, DType::kFloat8E4M3},
    KnownType{TypeCode::Float8_E5M2, 8, DType::kFloat8E5M2},
    KnownType{TypeCode::Complex, 64, DType::kComplex64},
    KnownType{TypeCode::Complex, 128, DType::kComplex128},
};

std::optional<DType> dtype_of(nb::dlpack::dtype type) {
  for (const KnownType& known : kDlpackTypes) {
    if (static_cast<std::uint8_t>(known.code) == type.code && known.bits == type.bits && type.lanes == 1) {
      return known.dtype;
    }
  }
  return std::nullopt;
}

// str(value).
std::string text_of(const nb::object& value) {
  return nb::cast<std::string>(nb::str(nb::handle(value)));
}

[[noreturn]] void refuse(nb::handle value, std::string_view why) {
  const std::string text = "expected a tensor (NumPy, DLPack, PyTorch, a number, a text or a list of them), found " +
                           nb::cast<std::string>(nb::type_name(value.type())) + std::string(why);
  throw nb::type_error(text.c_str());
}

using Sizes = std::vector<std::int64_t>;

Sizes sizes_of(nb::handle tuple) {
  Sizes sizes;
  for (const nb::handle size : tuple) sizes.push_back(nb::cast<std::int64_t>(size));
  return sizes;
}

// What lies at `address` and is kept there by `owner`. More dimensions than we know are nothing that can be read.
TensorArgument borrow(std::uintptr_t address, DType dtype, const Sizes& shape, const Sizes& strides, Device device,
                      nb::object owner) {
  auto view = TensorView::strided(reinterpret_cast<const void*>(address), dtype, shape, strides, device);
  if (!view.ok()) return UnreadableTensor();
  return BorrowedTensor{*view, {}, std::move(owner)};
}

// Buffers and DLPack.
std::optional<TensorArgument> from_array(nb::handle value) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(value, array, false)) return std::nullopt;
  const std::optional<DType> dtype = dtype_of(array.dtype());
  if (!dtype) return std::nullopt;
  Sizes shape;
  Sizes strides;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    shape.push_back(static_cast<std::int64_t>(array.shape(i)));
    strides.push_back(array.stride(i));
  }
  const Device device{static_cast<DeviceType>(array.device_type()), array.device_id()};
  TensorArgument argument =
      borrow(reinterpret_cast<std::uintptr_t>(array.data()), *dtype, shape, strides, device, nb::object());
  if (auto* tensor = std::get_if<BorrowedTensor>(&argument)) tensor->array = std::move(array);
  return argument;
}

// NumPy's own description of an array, for element types that the buffer protocol lacks (those of ml_dtypes).
std::optional<TensorArgument> from_array_interface(nb::handle value) {
  if (!nb::hasattr(value, "__array_interface__") || !nb::hasattr(value, "dtype")) return std::nullopt;
  const std::string named = text_of(value.attr("dtype").attr("name"));
  // What ml_dtypes calls float8_e4m3 has infinities; ours is its float8_e4m3fn.
  const auto dtype = named == "float8_e4m3" ? std::nullopt : dtype_of_name(named);
  const nb::object about = value.attr("__array_interface__");
  const auto item = static_cast<std::int64_t>(dtype ? item_bytes(*dtype) : 0);
  if (!dtype || *dtype == DType::kString || nb::cast<std::string>(about["typestr"]).front() == '>') return std::nullopt;
  const Sizes shape = sizes_of(about["shape"]);
  Sizes strides = sizes_of(value.attr("strides"));
  for (std::int64_t& stride : strides) {
    if (stride % item != 0) return std::nullopt;
    stride /= item;
  }
  const auto address = nb::cast<std::uintptr_t>(nb::object(about["data"])[0]);
  return borrow(address, *dtype, shape, strides, Device(), nb::borrow(value));
}

// PyTorch. Its DLPack refuses what needs a gradient, and in older versions bool; its own words are quicker, too.
bool is_torch_tensor(nb::handle value) {
  const nb::handle type(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr())));
  return nb::hasattr(type, "data_ptr") && nb::hasattr(type, "requires_grad");
}

Device device_of_torch(nb::handle device) {
  const auto type = nb::cast<std::string>(device.attr("type"));
  const nb::object index = device.attr("index");
  const std::int32_t number = index.is_none() ? 0 : nb::cast<std::int32_t>(index);
  if (type == "cpu") return {DeviceType::kCpu, 0};
  if (type == "cuda") return {DeviceType::kCuda, number};
  constexpr std::int32_t kExtensionDevice = 12;  // DLPack's number for what has none of its own
  return {static_cast<DeviceType>(kExtensionDevice), number};
}

// The stream that PyTorch works on now: the elements may still be on their way.
void* stream_of_torch(const Device& device) {
  if (device.type != DeviceType::kCuda) return nullptr;
  const nb::object stream = nb::module_::import_("torch").attr("cuda").attr("current_stream")(device.index);
  return reinterpret_cast<void*>(nb::cast<std::uintptr_t>(stream.attr("cuda_stream")));
}

TensorArgument from_torch(nb::handle value) {
  try {
    nb::object tensor = nb::borrow(value);
    if (nb::cast<bool>(tensor.attr("is_complex")())) tensor = tensor.attr("resolve_conj")();
    tensor = tensor.attr("resolve_neg")();
    const auto dtype = dtype_of_name(text_of(tensor.attr("dtype")));
    const auto address = nb::cast<std::uintptr_t>(tensor.attr("data_ptr")());
    if (!dtype) return UnreadableTensor();
    const Device device = device_of_torch(tensor.attr("device"));
    TensorArgument argument =
        borrow(address, *dtype, sizes_of(tensor.attr("shape")), sizes_of(tensor.attr("stride")()), device, tensor);
    if (auto* borrowed = std::get_if<BorrowedTensor>(&argument)) borrowed->view.stream = stream_of_torch(device);
    return argument;
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;  // Ctrl-C
    return UnreadableTensor();                   // sparse, of a tracer, without storage: no address or no strides
  } catch (const std::exception&) {
    return UnreadableTensor();  // answers that are no numbers
  }
}

// DLPack that refused: because the memory is where nobody can look?
bool lies_elsewhere(nb::handle value) {
  if (!nb::hasattr(value, "__dlpack_device__")) return false;
  try {
    const nb::object device = value.attr("__dlpack_device__")();
    return !Device{static_cast<DeviceType>(nb::cast<int>(device[0])), 0}.host_readable();
  } catch (const std::exception&) {
    return false;  // it does not even say where it is
  }
}

std::optional<BorrowedStrings> from_strings(nb::handle value) {
  BorrowedStrings texts;
  const auto add = [&](nb::handle text) {
    if (PyUnicode_Check(text.ptr())) {
      texts.strings.push_back(nb::cast<std::string_view>(text));
    } else if (PyBytes_Check(text.ptr())) {
      texts.strings.emplace_back(PyBytes_AsString(text.ptr()), static_cast<std::size_t>(PyBytes_Size(text.ptr())));
    } else {
      return false;
    }
    return true;
  };
  if (add(value)) {
    texts.owner = nb::borrow(value);
    return texts;
  }
  texts.owner = nb::steal(PySequence_Tuple(value.ptr()));
  if (!texts.owner.is_valid()) throw nb::python_error();
  for (const nb::handle text : texts.owner) {
    if (!add(text)) return std::nullopt;
  }
  return texts.strings.empty() ? std::nullopt : std::optional(std::move(texts));
}

bool is_text(nb::handle value) {
  return PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr());
}

// Numbers, lists and what else NumPy makes an array of.
TensorArgument from_numpy(nb::handle value) {
  nb::object array;
  try {
    array = nb::module_::import_("numpy").attr("asarray")(value);
  } catch (const nb::python_error& error) {
    refuse(value, std::string(", of which NumPy makes no array: ") + error.what());
  }
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind == "U" || kind == "S") {
    if (auto texts = from_strings(array.attr("ravel")().attr("tolist")())) return *std::move(texts);
  }
  constexpr std::string_view kNumbers = "biufc";
  if (kNumbers.find(kind) == std::string_view::npos) refuse(value, " of NumPy's type " + text_of(array.attr("dtype")));
  const nb::object native = array.attr("dtype").attr("newbyteorder")("=");
  auto tensor = from_array(nb::module_::import_("numpy").attr("array")(array, native, nb::arg("order") = "C"));
  if (!tensor) refuse(value, " of NumPy's type " + text_of(array.attr("dtype")));
  return *std::move(tensor);
}

}  // namespace

TensorView BorrowedStrings::view() const {
  return TensorView::of(strings.data(), DType::kString, Shape{static_cast<std::int64_t>(strings.size())});
}

TensorView unreadable_view() {
  return TensorView::of(nullptr, DType::kUInt8, Shape{1});
}

std::optional<DType> dtype_of_name(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  if (name == "float8_e4m3fn") return DType::kFloat8E4M3;
  return parse_dtype(name);
}

TensorArgument tensor_argument(nb::handle value) {
  if (is_torch_tensor(value)) return from_torch(value);
  if (!is_text(value)) {
    if (auto tensor = from_array(value)) return *std::move(tensor);
    if (auto tensor = from_array_interface(value)) return *std::move(tensor);
    if (lies_elsewhere(value)) return UnreadableTensor();
  }
  if (is_text(value) || PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    if (auto texts = from_strings(value)) return *std::move(texts);
  }
  return from_numpy(value);
}

}  // namespace trainwarden::python
