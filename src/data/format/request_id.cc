#include "data/format/request_id.h"

#include <fmt/format.h>

#include "data/format/control_record.h"

namespace trainwarden::format {
namespace {

constexpr std::string_view kRequestSuffix = ".json";

std::string_view prefix_of(RequestKind kind) {
  switch (kind) {
    case RequestKind::kStop: return "stop-";
    case RequestKind::kCapture: return "capture-";
    case RequestKind::kBlackBox: return "blackbox-";
    case RequestKind::kCheckpoint: return "checkpoint-";
    case RequestKind::kProfile: return "profile-";
    case RequestKind::kExamine: return "examine-";
    case RequestKind::kDelivery: break;
  }
  return "delivery-";
}

}  // namespace

std::string path_of(const RequestId& request) {
  return fmt::format("{}/{}{}{}", kControlFolder, prefix_of(request.kind), request.key, kRequestSuffix);
}

bool is_request_file(RequestKind kind, std::string_view file_name) {
  const std::string_view prefix = prefix_of(kind);
  return file_name.starts_with(prefix) && file_name.ends_with(kRequestSuffix) &&
         file_name.size() > prefix.size() + kRequestSuffix.size();
}

}  // namespace trainwarden::format
