// Web identities: a token that somebody else gives this program, such as Kubernetes through a file of its service
// accounts, is changed into credentials of a role by the service STS
// (docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/environment.h"
#include "store/s3/aws_profile.h"
#include "store/s3/signature_v4.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

struct WebIdentity {
  std::string token_file;  // is read anew each time
  std::string role;        // its ARN
  std::string session;     // a name that shows in logs of AWS; empty: one of ours
};

// AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN and AWS_ROLE_SESSION_NAME, each before the profile's
// web_identity_token_file, role_arn and role_session_name. Nothing: there is no token.
std::optional<WebIdentity> find_web_identity(const Environment& environment, const AwsSection& profile);

// Asks STS where the environment has it (s3_settings.h). kPermissionDenied: the token or the role are missing or were
// refused; kUnavailable: it does not answer.
Result<AwsCredentials> assume_role(const WebIdentity& identity, const Environment& environment, std::int64_t unix_ns);

// What it answers. kDataLoss when it is none.
Result<AwsCredentials> parse_assumed_role(std::string_view xml);

}  // namespace trainwarden::storage
