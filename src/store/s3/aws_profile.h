// The files in which the tools of AWS keep their settings: ~/.aws/config and ~/.aws/credentials.
//
//   [default]                         in config: [profile NAME] for the others
//   region = eu-central-1
//   s3 =
//     addressing_style = path         read as "s3.addressing_style"
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/environment.h"

namespace trainwarden::storage {

using AwsSection = std::map<std::string, std::string, std::less<>>;

// The section of such a file's text; empty: there is none. Lines that are no settings are left out, as AWS's tools do.
AwsSection aws_section(std::string_view text, std::string_view section);

// The profile that AWS_PROFILE names, or "default": the settings of both files, those of credentials first. Files that
// are not there, or cannot be read, have none.
AwsSection read_aws_profile(const Environment& environment);
std::string aws_profile_name(const Environment& environment);

}  // namespace trainwarden::storage
