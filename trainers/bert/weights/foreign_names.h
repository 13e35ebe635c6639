// Names of tensors in files of other frameworks, rewritten by tables.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bert {

struct Rewrite {
  std::string_view from;
  std::string_view to;
};

// `name` with each of the rewrites in turn applied to every place that has it.
std::string rewritten(std::string name, std::span<const Rewrite> rewrites);

}  // namespace bert
