#include "threads.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <vector>

namespace parsifal {

void parallel_for(std::size_t tasks, int threads, const std::function<void(std::size_t)>& run) {
    const std::size_t workers = std::min(tasks, static_cast<std::size_t>(std::max(threads, 1)));
    if (workers <= 1) {
        for (std::size_t task = 0; task < tasks; ++task) run(task);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr error;
    std::mutex error_mutex;
    const auto work = [&] {
        try {
            for (std::size_t task = next++; task < tasks; task = next++) run(task);
        } catch (...) {
            const std::lock_guard lock(error_mutex);
            error = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    others.reserve(workers - 1);
    try {
        for (std::size_t w = 1; w < workers; ++w) others.emplace_back(work);
    } catch (const std::system_error&) {
        // The system gives no more threads: those that started, and this one, do all the tasks.
    }
    work();
    for (std::thread& thread : others) thread.join();
    if (error) std::rethrow_exception(error);
}

}  // namespace parsifal
