#include "ui/views/attention/attention_map.h"

namespace trainwarden::views::attention {

std::string_view name(MaskKind mask) {
  switch (mask) {
    case MaskKind::kNone: return "none";
    case MaskKind::kCausal: return "causal";
    case MaskKind::kWindow: return "window";
  }
  return "";
}

std::string_view name(Layout layout) {
  switch (layout) {
    case Layout::kBHTD: return "BHTD";
    case Layout::kBTHD: return "BTHD";
    case Layout::kBTD: return "BTD";
  }
  return "";
}

std::string_view name(MapSource source) {
  switch (source) {
    case MapSource::kNone: return "none";
    case MapSource::kGuessed: return "guessed";
    case MapSource::kFile: return "file";
  }
  return "";
}

}  // namespace trainwarden::views::attention
