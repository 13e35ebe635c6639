#include "react/network/signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace trainwarden::network {
namespace {

constexpr std::string_view kBase64Prefix = "whsec_";

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Status no_digest() {
  return Status(Code::kInternal, "OpenSSL cannot compute SHA-256");
}

Result<std::string> hmac_sha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text), text.size(), digest.data(), &size) ==
      nullptr) {
    return no_digest();
  }
  return std::string(digest.begin(), digest.begin() + size);
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // libcrypto ends it with a zero
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes_of(bytes), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

Result<std::string> sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) return no_digest();
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

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
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string digest, hmac_sha256(key, text));
    header += fmt::format("{}v1,{}", header.empty() ? "" : " ", base64(digest));
  }
  return header;
}

}  // namespace trainwarden::network
