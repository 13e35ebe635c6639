// Settings of glibc's malloc.
#include "training/kept_memory.h"

#include <cstdlib>  // which says whether this is glibc

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace bert {

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);         // no piece is mapped by itself, however large
  mallopt(M_TRIM_THRESHOLD, -1);  // nothing goes back
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

}  // namespace bert
