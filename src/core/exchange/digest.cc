#include "core/exchange/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace trainwarden::exchange {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Status no_digest(std::string_view name) {
  return Status(Code::kInternal, fmt::format("OpenSSL cannot compute {}", name));
}

Result<std::string> digest_of(std::string_view bytes, const EVP_MD* kind, std::string_view name) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, kind, nullptr) != 1) return no_digest(name);
  return std::string(digest.begin(), digest.begin() + size);
}

}  // namespace

Result<std::string> hmac_sha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text), text.size(), digest.data(), &size) ==
      nullptr) {
    return no_digest("SHA-256");
  }
  return std::string(digest.begin(), digest.begin() + size);
}

Result<std::string> sha256_hex(std::string_view bytes) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string digest, digest_of(bytes, EVP_sha256(), "SHA-256"));
  return hex(digest);
}

Result<std::string> md5(std::string_view bytes) {
  return digest_of(bytes, EVP_md5(), "MD5");
}

struct RunningMd5::State {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
  bool is_fine = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_md5(), nullptr) == 1;
};

RunningMd5::RunningMd5() : state_(std::make_unique<State>()) {}

RunningMd5::~RunningMd5() = default;

void RunningMd5::add(std::string_view bytes) {
  if (state_->is_fine) state_->is_fine = EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1;
}

Result<std::string> RunningMd5::end() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const bool is_fine = state_->is_fine && EVP_DigestFinal_ex(state_->context.get(), digest.data(), &size) == 1;
  state_->is_fine = false;
  if (!is_fine) return no_digest("MD5");
  return std::string(digest.begin(), digest.begin() + size);
}

std::string hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // libcrypto ends it with a zero
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes_of(bytes), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

}  // namespace trainwarden::exchange
