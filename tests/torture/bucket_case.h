// BucketCase: a run that is written into a bucket, or on a disk with a mirror in a bucket, while the bucket's server
// fails (fake_bucket.h).
#pragma once

#include "case_plan.h"

namespace trainwarden::torture {

// Of the kinds kBucket, kMirror and kListing.
void play_bucket(const CasePlan& plan, CaseLog& log);

}  // namespace trainwarden::torture
