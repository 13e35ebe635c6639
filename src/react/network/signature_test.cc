#include "react/network/signature.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace trainwarden::network {
namespace {

// RFC 4231, test case 2.
TEST(Signature, SignsIdTimeAndBody) {
  const std::array<std::string, 1> keys{"Jefe"};
  const auto header = signature_header(keys, "what do ya want for nothing?", 0, "");
  ASSERT_TRUE(header.ok());
  EXPECT_NE(*header, "");
  const auto other = signature_header(keys, "what do ya want for nothing?", 1, "");
  EXPECT_NE(*header, *other);
  EXPECT_NE(*other, *signature_header(keys, "what do ya want for nothing?", 1, "x"));
}

// The example of the Standard Webhooks specification's reference libraries.
TEST(Signature, AgreesWithOtherImplementations) {
  const std::array<std::string, 1> keys{*signing_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")};
  EXPECT_EQ(*signature_header(keys, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, "{\"test\": 2432232314}"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(Signature, SignsWithEachKey) {
  const std::array<std::string, 2> both{"new", "old"};
  const std::string header = *signature_header(both, "id", 1, "body");
  EXPECT_EQ(header, *signature_header(std::array<std::string, 1>{"new"}, "id", 1, "body") + " " +
                        *signature_header(std::array<std::string, 1>{"old"}, "id", 1, "body"));
}

TEST(Signature, ReadsKeys) {
  EXPECT_EQ(*signing_key("any text"), "any text");
  EXPECT_EQ(*signing_key("whsec_Zm9vYmFy"), "foobar");
  EXPECT_EQ(*signing_key("whsec_Zm8="), "fo");
  EXPECT_EQ(*signing_key("whsec_Zg=="), "f");
  EXPECT_EQ(*signing_key("whsec_Zg"), "f");
  for (const char* text : {"whsec_", "whsec_hidden!", "whsec_====", "whsec_h"}) {
    const auto key = signing_key(text);
    ASSERT_FALSE(key.ok()) << text;
    EXPECT_EQ(key.status().message().find("hidden"), std::string::npos);
  }
}

}  // namespace
}  // namespace trainwarden::network
