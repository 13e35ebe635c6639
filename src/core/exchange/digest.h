// Digests of bytes, and what is signed with them. kInternal where OpenSSL cannot compute them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::exchange {

Result<std::string> hmac_sha256(std::string_view key, std::string_view text);  // 32 bytes
Result<std::string> sha256_hex(std::string_view bytes);                        // in lower case
Result<std::string> md5(std::string_view bytes);  // 16 bytes; for protocols that ask for it, and for nothing else
std::string hex(std::string_view bytes);          // in lower case

// md5() of what comes piece by piece.
class RunningMd5 {
 public:
  RunningMd5();
  ~RunningMd5();
  void add(std::string_view bytes);
  Result<std::string> end();  // 16 bytes; once

 private:
  struct State;
  std::unique_ptr<State> state_;
};
std::string base64(std::string_view bytes);

}  // namespace trainwarden::exchange
