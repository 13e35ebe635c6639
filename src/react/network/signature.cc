#include "react/network/signature.h"

#include <openssl/evp.h>

#include <cstddef>

#include <fmt/format.h>

#include "core/exchange/digest.h"

namespace trainwarden::network {
namespace {

constexpr std::string_view kBase64Prefix = "whsec_";

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

Result<std::string> signing_key(std::string_view secret) {
  if (!secret.starts_with(kBase64Prefix)) return std::string(secret);
  std::string text(secret.substr(kBase64Prefix.size()));
  while (text.size() % 4 != 0) text += '=';
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string key(text.size() / 4 * 3, '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(key.data()), bytes_of(text), static_cast<int>(text.size()));
  const bool padded_within = text.find('=') < text.size() - padding;  // libcrypto reads it as a zero
  if (size < 0 || padded_within || static_cast<std::size_t>(size) <= padding) {
    return Status(Code::kInvalidArgument, "the secret begins with whsec_, and what follows is no base64");
  }
  key.resize(static_cast<std::size_t>(size) - padding);
  return key;
}

Result<std::string> signature_header(std::span<const std::string> keys, std::string_view id, std::int64_t unix_seconds,
                                     std::string_view body) {
  const std::string text = fmt::format("{}.{}.{}", id, unix_seconds, body);
  std::string header;
  for (const std::string& key : keys) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string digest, exchange::hmac_sha256(key, text));
    header += fmt::format("{}v1,{}", header.empty() ? "" : " ", exchange::base64(digest));
  }
  return header;
}

}  // namespace trainwarden::network
