// Memory that is free but not given back.
#pragma once

#ifdef __linux__
#include <malloc.h>
#endif

namespace parsifal {

// Gives whole free pages back to the system where the allocator keeps them: between blocks of many sizes that come and
// go, what is free would grow to half of what is held.
inline void return_free_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace parsifal
