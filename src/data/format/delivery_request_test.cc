#include "data/format/delivery_request.h"

#include <gtest/gtest.h>

namespace trainwarden::format {
namespace {

TEST(DeliveryRequest, ReadsWhatItWrote) {
  for (const auto kind : {DeliveryRequest::Kind::kRedrive, DeliveryRequest::Kind::kDrop}) {
    const DeliveryRequest request{"k-1", kind, "ops \"a\"", 7, "user", 1'700'000'000'000'000'000};
    const auto read = decode_delivery_request(encode_delivery_request(request));
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(*read, request);
  }
}

TEST(DeliveryRequest, IsAFileInTheControlFolder) {
  EXPECT_EQ(delivery_request_path("k-1"), "control/delivery-k-1.json");
  EXPECT_TRUE(is_delivery_request_file("delivery-k-1.json"));
  for (const char* file : {"delivery-.json", "delivery-k", "stop-k.json", ""}) {
    EXPECT_FALSE(is_delivery_request_file(file)) << file;
  }
}

TEST(DeliveryRequest, RefusesOthers) {
  for (const char* text :
       {"", "{}", "[]", R"({"type": "stop"})", R"({"type": "drop", "key": "k"})",
        R"({"type": "drop", "key": "k", "subscription": "", "seq": -1, "requested_by": "u", "unix_ns": 1})"}) {
    EXPECT_EQ(decode_delivery_request(text).status().code(), Code::kDataLoss) << text;
  }
}

}  // namespace
}  // namespace trainwarden::format
