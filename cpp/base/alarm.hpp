// When to stop: a moment on the clock, a flag that another thread may set, and the caller's own question (Ctrl-C).
// Every loop that can take long asks its alarm. A result that is of use half done is handed back as it is; of the
// others (`check`) nothing is left.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

namespace parsifal {

struct TimeUp : std::exception {
    const char* what() const noexcept override { return "the time is up"; }
};

class Alarm {
    using Clock = std::chrono::steady_clock;

  public:
    explicit Alarm(const std::atomic<bool>* flag) : flag_(flag) {}
    // `listen` may throw, which is how Ctrl-C gets out. It is called on this thread only; the others then stop as well.
    Alarm(double seconds, std::function<void()> listen) : listen_(std::move(listen)), listened_(Clock::now()) {
        if (std::isfinite(seconds) && seconds < 1e9)
            deadline_ = listened_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    static const Alarm& never() {
        static const Alarm alarm(nullptr);
        return alarm;
    }

    bool rings() const {
        if (flag_ && flag_->load(std::memory_order_relaxed)) return true;
        if (!listen_) return false;
        if (stopped_.load(std::memory_order_relaxed)) return true;
        const Clock::time_point now = Clock::now();
        if (std::this_thread::get_id() == owner_ && now - listened_ >= std::chrono::milliseconds(50)) {
            listened_ = now;
            try {
                listen_();
            } catch (...) {
                stopped_ = true;
                throw;
            }
        }
        return now >= deadline_;
    }

    void check() const {
        if (rings()) throw TimeUp();
    }

  private:
    const std::atomic<bool>* flag_ = nullptr;
    std::function<void()> listen_;
    std::thread::id owner_ = std::this_thread::get_id();
    Clock::time_point deadline_ = Clock::time_point::max();
    mutable Clock::time_point listened_;
    mutable std::atomic<bool> stopped_{false};
};

}  // namespace parsifal
