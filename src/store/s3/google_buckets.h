// Google's buckets, "gs://BUCKET/KEY": they speak S3's language at https://storage.googleapis.com to who has an HMAC
// key (cloud.google.com/storage/docs/interoperability).
#pragma once

#include "core/base/environment.h"

namespace trainwarden::storage {

// The environment as settings and credentials of S3 are read from it, for Google's buckets:
//
//   keys       TRAINWARDEN_GS_ACCESS_KEY_ID and TRAINWARDEN_GS_SECRET_ACCESS_KEY; else the profile "gs" of AWS's files
//   endpoint   TRAINWARDEN_GS_ENDPOINT_URL, for another server; else Google's
//
// Amazon's keys, endpoints and roles are not those of Google: a copy from one to the other needs both. The rest is the
// same for both: certificates, attempts, TRAINWARDEN_UNSIGNED.
Environment google_environment(Environment environment);

// What is to be set where no keys are.
inline constexpr const char* kGoogleKeysMissing =
    "no keys for Google's buckets: expected TRAINWARDEN_GS_ACCESS_KEY_ID and TRAINWARDEN_GS_SECRET_ACCESS_KEY, an HMAC "
    "key (gcloud storage hmac create SERVICE_ACCOUNT), or the profile \"gs\" in ~/.aws/credentials; "
    "TRAINWARDEN_UNSIGNED=1 reads what everybody may read";

}  // namespace trainwarden::storage
