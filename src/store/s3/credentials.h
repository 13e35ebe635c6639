// As whom requests are made. The chain of AWS's tools, in this order:
//
//   variables    AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
//   web identity AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, or web_identity_token_file and role_arn of the profile
//   profile      aws_access_key_id, aws_secret_access_key, aws_session_token of ~/.aws/credentials and ~/.aws/config
//   container    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI, with AWS_CONTAINER_AUTHORIZATION_TOKEN or
//                _TOKEN_FILE
//   instance     the metadata service of EC2, version 2; not where AWS_EC2_METADATA_DISABLED is true
//
// TRAINWARDEN_UNSIGNED=1: none of them, for buckets that everybody may read.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "core/base/clock.h"
#include "core/base/environment.h"
#include "store/s3/fork_aware_mutex.h"
#include "store/s3/signature_v4.h"

namespace trainwarden::storage {

// From many threads at once.
class CredentialChain {
 public:
  // `missing`: what is said where there are none; empty: what those of Amazon are.
  CredentialChain(Environment environment, const Clock& clock, std::string missing = "")
      : environment_(std::move(environment)), clock_(clock), missing_(std::move(missing)) {}

  // Those that were found before, until they are about to expire. kPermissionDenied when there are none: the message
  // says where they were looked for; kUnavailable when a service that should have them does not answer.
  Result<AwsCredentials> get();
  // They were refused: the next get() looks for others.
  void forget();

 private:
  Result<AwsCredentials> find() const;

  const Environment environment_;
  const Clock& clock_;
  const std::string missing_;
  ForkAwareMutex mutex_;
  std::optional<AwsCredentials> found_;
};

// What such a service answers: {"AccessKeyId": ..., "SecretAccessKey": ..., "Token": ..., "Expiration": "2026-..."}.
// kDataLoss when it is none.
Result<AwsCredentials> parse_credentials(std::string_view json);

}  // namespace trainwarden::storage
