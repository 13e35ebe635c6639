#include "data/format/request_id.h"

#include <string>

#include <gtest/gtest.h>

namespace trainwarden::format {
namespace {

struct NamedKind {
  RequestKind kind;
  std::string file;  // with the key "k-1"
};
const NamedKind kNamedKinds[] = {{RequestKind::kStop, "stop-k-1.json"},
                                 {RequestKind::kCapture, "capture-k-1.json"},
                                 {RequestKind::kBlackBox, "blackbox-k-1.json"},
                                 {RequestKind::kCheckpoint, "checkpoint-k-1.json"},
                                 {RequestKind::kDelivery, "delivery-k-1.json"}};

TEST(RequestId, EachKindHasItsFile) {
  for (const NamedKind& one : kNamedKinds) EXPECT_EQ(path_of({one.kind, "k-1"}), "control/" + one.file);
}

TEST(RequestId, AFileIsOfOneKind) {
  for (const NamedKind& one : kNamedKinds) {
    for (const NamedKind& other : kNamedKinds) {
      EXPECT_EQ(is_request_file(one.kind, other.file), one.kind == other.kind) << other.file;
    }
  }
  for (const char* other : {"stop-.json", "stop-k", "stop.json", ".stop-k.json", "xstop-k.json", "stop-k.json.part"}) {
    EXPECT_FALSE(is_request_file(RequestKind::kStop, other)) << other;
  }
}

}  // namespace
}  // namespace trainwarden::format
