#include "data/format/request_address.h"

#include <gtest/gtest.h>

#include "data/format/control_record.h"
#include "data/format/delivery_request.h"

namespace trainwarden::format {
namespace {

constexpr const char* kRun = "000102030405060708090a0b0c0d0e0f";
constexpr const char* kOther = "ffffffffffffffffffffffffffffffff";

TEST(RequestAddress, IsAFieldOfTheRequest) {
  const StopRequest request{"k", "why", "user", 7};
  const std::string addressed = address_request(encode_stop_request(request), kRun);
  EXPECT_EQ(decode_stop_request(addressed).value(), request);
  EXPECT_TRUE(check_address(addressed, kRun).ok());
  const Status refused = check_address(addressed, kOther);
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.message().find(kOther), std::string::npos) << refused.message();
}

TEST(RequestAddress, WhoNamesNoRunMeansTheOneThatLiesThere) {
  EXPECT_TRUE(check_address(encode_stop_request({"k", "why", "user", 7}), kRun).ok());
  EXPECT_TRUE(check_address(address_request(encode_stop_request({"k", "why", "user", 7}), ""), kRun).ok());
  EXPECT_EQ(check_address("", kRun).code(), Code::kDataLoss);
  EXPECT_EQ(check_address(R"({"run": 5})", kRun).code(), Code::kDataLoss);
}

TEST(RequestAddress, WhenAndWhyDoNotMakeAnotherRequest) {
  const std::string first = address_request(encode_stop_request({"k", "why", "user", 7}), kRun);
  EXPECT_TRUE(check_same_request(first, first).ok());
  EXPECT_TRUE(check_same_request(first, address_request(encode_stop_request({"k", "what", "ledger", 8}), kRun)).ok());
  EXPECT_TRUE(check_same_request(first, encode_stop_request({"k", "why", "user", 7})).ok()) << "an earlier version's";
  EXPECT_TRUE(check_same_request(first, address_request(encode_stop_request({"k", "why", "user", 7}), "")).ok());
}

TEST(RequestAddress, WhatIsAskedForDoes) {
  const std::string stop = address_request(encode_stop_request({"k", "why", "user", 7}), kRun);
  const std::string redrive = encode_delivery_request({.key = "k", .subscription = "ops", .seq = 3});
  const auto differs = [](std::string_view wanted, std::string_view there) {
    return check_same_request(wanted, there).code() == Code::kAlreadyExists;
  };
  EXPECT_TRUE(differs(stop, address_request(encode_stop_request({"k", "why", "user", 7}), kOther)));
  EXPECT_TRUE(differs(stop, encode_stop_request({"other", "why", "user", 7})));
  EXPECT_TRUE(differs(stop, encode_checkpoint_request({.key = "k"})));
  EXPECT_TRUE(differs(encode_capture_request({.key = "k", .options = R"({"save_all":true})"}),
                      encode_capture_request({.key = "k", .options = R"({"save_all":false})"})));
  EXPECT_TRUE(differs(redrive, encode_delivery_request({.key = "k", .subscription = "ops", .seq = 4})));
  for (const char* text : {"", "{", "[]", "left over", "{}"}) EXPECT_TRUE(differs(stop, text)) << text;
}

}  // namespace
}  // namespace trainwarden::format
