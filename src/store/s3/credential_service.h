// Services beside a program that give credentials to who asks from inside: of containers, and of machines of EC2.
#pragma once

#include <string>

#include "core/base/environment.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

struct CredentialService {
  enum class Kind { kNone, kContainer, kInstance };
  Kind kind = Kind::kNone;
  std::string url;         // of a container's, whole; of an instance's, its root
  std::string token;       // sent as Authorization
  std::string token_file;  // has the token anew each time
};

CredentialService credential_service(const Environment& environment);

// The JSON document that it answers. kUnavailable when it does not, kPermissionDenied when the address is none of such
// a service's: what is not encrypted goes to this machine and to the addresses of containers alone.
Result<std::string> ask_for_credentials(const CredentialService& service);

}  // namespace trainwarden::storage
