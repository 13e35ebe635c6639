#include "read/transfer/number_text.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <type_traits>

#include <fmt/format.h>

#include "data/format/json.h"
#include "data/tensor/element.h"

namespace trainwarden::transfer {
namespace {

template <class T>
void append_real(std::string& out, T number, const NumberStyle& style) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(number)) {
      out += style.nan;
      return;
    }
    if (std::isinf(number)) {
      out += number > 0 ? style.infinity : style.minus_infinity;
      return;
    }
  }
  fmt::format_to(std::back_inserter(out), "{}", number);
}

template <class T>
void append_component(std::string& out, T component, const NumberStyle& style) {
  if constexpr (std::is_same_v<T, Bool8>) {
    out += component.bits != 0 ? style.yes : style.no;
  } else if constexpr (std::is_arithmetic_v<T>) {
    append_real(out, component, style);
  } else {
    append_real(out, to_float(component), style);
  }
}

template <class T>
T load_component(const TensorView& packed, std::int64_t index) {
  T component;
  std::memcpy(&component, static_cast<const std::byte*>(packed.data) + static_cast<std::size_t>(index) * sizeof(T),
              sizeof component);
  return component;
}

}  // namespace

void append_number(std::string& out, double number, const NumberStyle& style) {
  append_real(out, number, style);
}

void append_element(std::string& out, const TensorView& packed, std::int64_t index, const NumberStyle& style) {
  visit_component(packed.dtype, [&]<class T>(T) {
    if (!is_complex(packed.dtype)) return append_component(out, load_component<T>(packed, index), style);
    out += style.complex_begin;
    append_component(out, load_component<T>(packed, 2 * index), style);
    out += style.complex_middle;
    std::string second;
    append_component(second, load_component<T>(packed, 2 * index + 1), style);
    if (style.sign_of_second && second[0] != '-') out += '+';
    out += second + std::string(style.complex_end);
  });
}

std::string json_text(std::string_view text) {
  return format::dump_json(format::OrderedJson(std::string(text)));
}

}  // namespace trainwarden::transfer
