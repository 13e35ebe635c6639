#include "work/document/mistakes.h"

#include <fmt/format.h>

namespace trainwarden::document {

void Mistakes::add(std::string_view place, std::string_view what) {
  if (++count_ <= kMaxListed) listed_.push_back({std::string(place), std::string(what)});
}

Status Mistakes::status() const {
  if (!any()) return {};
  std::string text;
  for (const Mistake& mistake : listed_) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", mistake.place, mistake.what);
  }
  if (count_ > listed_.size()) text += fmt::format("\nand {} more", count_ - listed_.size());
  return Status(Code::kInvalidArgument, std::move(text));
}

}  // namespace trainwarden::document
