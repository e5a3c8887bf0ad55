#include "base/threads.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>

namespace parsifal {

void parallel_for(std::size_t tasks, const Team& team, const std::function<void(std::size_t)>& run) {
    const std::size_t workers = std::min(tasks, static_cast<std::size_t>(std::max(team.threads, 1)));
    if (workers <= 1) {
        for (std::size_t task = 0; task < tasks; ++task) {
            team.alarm.check();
            run(task);
        }
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr error;
    std::mutex error_mutex;
    const std::thread::id caller = std::this_thread::get_id();
    const auto work = [&] {
        try {
            for (std::size_t task = next++; task < tasks; task = next++) {
                team.alarm.check();
                run(task);
            }
        } catch (...) {
            const std::lock_guard lock(error_mutex);
            // Of several the caller's own, if there is one: TimeUp says no more than that it was met.
            if (!error || std::this_thread::get_id() == caller) error = std::current_exception();
            next = tasks;
        }
    };
    Joined others;
    try {
        for (std::size_t w = 1; w < workers; ++w) others.start(work);
    } catch (const std::system_error&) {
        // The system gives no more threads: those that started, and this one, do all the tasks.
    }
    work();
    others.join();
    if (error) std::rethrow_exception(error);
}

}  // namespace parsifal
