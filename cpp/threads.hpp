// Threads for one call: started when the work is worth it, joined before the call returns.
// There is no pool that outlives a call, so a process that forks between calls stays safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace parsifal {

// Cores that this process may use, which on a shared machine can be fewer than there are.
inline int available_cores() {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// One core reads this much in about a millisecond. Below it a second thread seldom helps and can cost a scheduler's
// time slice: a BLAS that has just been called keeps its own threads spinning on the other cores.
constexpr std::size_t kBytesWorthThreads = std::size_t{1} << 24;

// Threads for a call that touches `bytes`; `asked` = 0 means every available core.
inline int threads_for(std::size_t bytes, int asked) {
    if (bytes < kBytesWorthThreads) return 1;
    return asked > 0 ? asked : available_cores();
}

// Calls run(task) for every task in [0, tasks). Which thread runs a task is left to chance, so a result that
// must not depend on the number of threads has to depend on the task only. Not a template, for the same
// reason: a compiler that inlines `run` in two places may round differently in each.
void parallel_for(std::size_t tasks, int threads, const std::function<void(std::size_t)>& run);

}  // namespace parsifal
