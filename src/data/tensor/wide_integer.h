// 128-bit integers, under names that strict compilers accept.
#pragma once

namespace trainwarden {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

}  // namespace trainwarden
