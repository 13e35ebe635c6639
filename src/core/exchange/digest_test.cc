#include "core/exchange/digest.h"

#include <string>

#include <gtest/gtest.h>

namespace trainwarden::exchange {
namespace {

TEST(Digest, WritesBase64) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string("\xff\xfe\x00", 3)), "//4A");
}

TEST(Digest, HashesAsTheStandardsSay) {
  EXPECT_EQ(*sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(*md5("abc")), "900150983cd24fb0d6963f7d28e17f72");  // RFC 1321
}

// RFC 4231, test case 2.
TEST(Digest, SignsAsTheStandardSays) {
  EXPECT_EQ(hex(*hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace
}  // namespace trainwarden::exchange
