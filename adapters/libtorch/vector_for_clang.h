// For clang 14, which looks into the constexpr functions of libstdc++'s vector where LibTorch 1.13 uses one of a type
// that it has only begun to define, and refuses that: a vector without them. Included before all else.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#pragma push_macro("_GLIBCXX20_CONSTEXPR")
#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR
#define __fill_a1 __fill_a1_without_constexpr  // of vector<bool>; <algorithm> has declared it
#include <vector>
#undef __fill_a1
#pragma pop_macro("_GLIBCXX20_CONSTEXPR")
