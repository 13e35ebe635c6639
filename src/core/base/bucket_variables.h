// The environment variables of buckets of S3.
// Each name is there once, with who sets it, who reads it, and the form of its value.
#pragma once

namespace trainwarden::variable {

// Buckets of S3, as AWS's tools have them (src/store/s3/s3_settings.h, credentials.h).
inline constexpr const char* kUnsigned = "TRAINWARDEN_UNSIGNED";         // a switch: requests are not signed
inline constexpr const char* kGsKeyId = "TRAINWARDEN_GS_ACCESS_KEY_ID";  // and of Google's: google_buckets.h
inline constexpr const char* kGsSecret = "TRAINWARDEN_GS_SECRET_ACCESS_KEY";
inline constexpr const char* kGsEndpoint = "TRAINWARDEN_GS_ENDPOINT_URL";
inline constexpr const char* kAwsKeyId = "AWS_ACCESS_KEY_ID";
inline constexpr const char* kAwsSecret = "AWS_SECRET_ACCESS_KEY";
inline constexpr const char* kAwsSessionToken = "AWS_SESSION_TOKEN";
inline constexpr const char* kAwsProfile = "AWS_PROFILE";
inline constexpr const char* kAwsCredentialsFile = "AWS_SHARED_CREDENTIALS_FILE";  // a path
inline constexpr const char* kAwsConfigFile = "AWS_CONFIG_FILE";                   // a path
inline constexpr const char* kAwsRegion = "AWS_REGION";
inline constexpr const char* kAwsDefaultRegion = "AWS_DEFAULT_REGION";
inline constexpr const char* kAwsS3Endpoint = "AWS_ENDPOINT_URL_S3";
inline constexpr const char* kAwsEndpoint = "AWS_ENDPOINT_URL";
inline constexpr const char* kAwsCaBundle = "AWS_CA_BUNDLE";        // a path
inline constexpr const char* kAwsMaxAttempts = "AWS_MAX_ATTEMPTS";  // a number
inline constexpr const char* kAwsStsEndpoint = "AWS_ENDPOINT_URL_STS";
inline constexpr const char* kAwsWebIdentityTokenFile = "AWS_WEB_IDENTITY_TOKEN_FILE";  // a path
inline constexpr const char* kAwsRoleArn = "AWS_ROLE_ARN";
inline constexpr const char* kAwsRoleSessionName = "AWS_ROLE_SESSION_NAME";
inline constexpr const char* kAwsContainerRelativeUri = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
inline constexpr const char* kAwsContainerFullUri = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
inline constexpr const char* kAwsContainerToken = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
inline constexpr const char* kAwsContainerTokenFile = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";
inline constexpr const char* kAwsNoMetadata = "AWS_EC2_METADATA_DISABLED";  // a switch
inline constexpr const char* kAwsMetadataEndpoint = "AWS_EC2_METADATA_SERVICE_ENDPOINT";

}  // namespace trainwarden::variable
