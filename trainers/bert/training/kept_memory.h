// What becomes of memory that tensors give back.
#pragma once

namespace bert {

// From now on the process keeps freed memory for its next tensors. By default the C library returns large pieces to the
// kernel, and each step gets them anew, page by page and zeroed, which is a tenth of a step's time. The process then
// holds what it held at its peak. Call it once, before other threads start; without glibc it does nothing.
void keep_freed_memory();

}  // namespace bert
