#include "page_files.h"

#include <array>

// All files, one after another (page.S).
extern "C" const char trainwarden_page_begin[];

namespace trainwarden::page {
namespace {

std::string_view at(std::size_t begin, std::size_t bytes) {
  return {trainwarden_page_begin + begin, bytes};
}

}  // namespace

std::span<const File> files() {
  static const std::array all = {
#include "page_files.inc"
  };
  return all;
}

}  // namespace trainwarden::page
