// Threads for one call: started when the work is worth it, joined before the call returns.
// There is no pool that outlives a call, so a process that forks between calls stays safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "base/alarm.hpp"

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

// Who does the work of a call, and what may stop it.
struct Team {
    int threads = 0;  // 0: every available core
    const Alarm& alarm = Alarm::never();

    // The team for a call that touches `bytes`.
    Team worth(std::size_t bytes) const {
        return {bytes < kBytesWorthThreads ? 1 : threads > 0 ? threads : available_cores(), alarm};
    }
};

// Threads that have ended when this does, whatever is thrown meanwhile: std::jthread, which not every standard library
// has.
class Joined {
  public:
    Joined() = default;
    Joined(const Joined&) = delete;
    Joined& operator=(const Joined&) = delete;
    ~Joined() { join(); }

    // Throws std::system_error if the system gives no more threads.
    template <class Work>
    void start(Work&& work) {
        threads_.emplace_back(std::forward<Work>(work));
    }

    void join() {
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }

  private:
    std::vector<std::thread> threads_;
};

// Calls run(task) for every task in [0, tasks). Which thread runs a task is left to chance, so a result that
// must not depend on the number of threads has to depend on the task only. Not a template, for the same
// reason: a compiler that inlines `run` in two places may round differently in each.
// Once the alarm rings, no task is begun, and TimeUp is thrown.
void parallel_for(std::size_t tasks, const Team& team, const std::function<void(std::size_t)>& run);

}  // namespace parsifal
