#include "store/s3/signature_v4.h"

#include <gtest/gtest.h>

#include "core/base/rfc3339.h"
#include "core/exchange/digest.h"

namespace trainwarden::storage {
namespace {

// The examples of Amazon's description of signatures for S3, which have these credentials and this time.
const AwsCredentials kCredentials = {.key_id = "AKIAIOSFODNN7EXAMPLE",
                                     .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};

std::string signature_of(const QueryParameters& query, AwsCredentials credentials = kCredentials) {
  HeaderMap headers = {{"host", "examplebucket.s3.amazonaws.com"}, {"content-type", "is not signed"}};
  const std::string hash = *exchange::sha256_hex("");
  const SignedParts parts{.method = "GET", .path = "/", .query = &query, .payload_hash = hash};
  EXPECT_TRUE(sign_v4(parts, credentials, "us-east-1", *parse_rfc3339("2013-05-24T00:00:00Z"), headers).ok());
  return headers["authorization"];
}

TEST(SignatureV4, IsThatOfAmazonsExamples) {
  const std::string beginning =
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
      "SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=";
  EXPECT_EQ(signature_of({{"lifecycle", ""}}),
            beginning + "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  EXPECT_EQ(signature_of({{"prefix", "J"}, {"max-keys", "2"}}),
            beginning + "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(SignatureV4, ASessionsTokenIsSigned) {
  AwsCredentials session = kCredentials;
  session.session_token = "token";
  EXPECT_NE(signature_of({}, session).find("x-amz-date;x-amz-security-token,"), std::string::npos);
}

TEST(SignatureV4, EncodesAllButWhatIsPlain) {
  EXPECT_EQ(encode_uri("a b/c~d.e_f-g+h%\xC3\xA4", true), "a%20b/c~d.e_f-g%2Bh%25%C3%A4");
  EXPECT_EQ(encode_uri("a/b", false), "a%2Fb");
  EXPECT_EQ(encode_query({{"b", "1 2"}, {"a", ""}}), "a=&b=1%202");
}

}  // namespace
}  // namespace trainwarden::storage
