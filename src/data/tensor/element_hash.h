// The hash of a tensor's components: a polynomial, so that the hash of a concatenation follows from those of its parts.
//
//   hash(c_0 ... c_(n-1)) = Σ mix(c_i) · R^(n-1-i)  mod 2^64
//   hash(a ‖ b)           = hash(a) · R^|b| + hash(b)
//
// c_i are the bits of component i in row-major order as an unsigned number (complex numbers have two components), and
//
//   mix(c) = m ^ (m >> 32) ^ A,  m = c · B  mod 2^64
//   R = 0x9e3779b97f4a7c15,  A = 0xd6e8feb86659fd93,  B = 0x9e3779b1
//
// This is part of the format. R and B are odd, so every step can be undone: a change of one component always changes
// the hash. The shift keeps changes from cancelling in a pattern; A keeps zeros from being neutral, so that tensors of
// zeros of different sizes differ. Exchanging components 2^k places apart goes unseen with a chance of about 2^(k-62),
// other accidents with 2^-64. It is no protection against somebody who wants a collision.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trainwarden {

// The hash of everything before followed by these components, of 1, 2, 4 or 8 bytes each.
std::uint64_t append_hash(std::uint64_t hash, const void* components, std::size_t count, std::size_t component_bytes);

// The hash of two parts, of which the second has `count` components.
std::uint64_t join_hashes(std::uint64_t first, std::uint64_t second, std::uint64_t count);

}  // namespace trainwarden
