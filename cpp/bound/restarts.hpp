// Local search from random supports. Single swaps end in many places; from enough starts one of them is the best.
#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "base/alarm.hpp"
#include "bound/swap.hpp"
#include "bound/walk.hpp"

namespace parsifal {

// Repeatable: the draws depend on the seed and on what has been asked before.
class Restarts {
  public:
    // When they have settled: after so many starts, so many of which have ended in the best place. A bad place may well
    // be met ten times before the best one.
    struct Patience {
        int hits = 30, starts = 0;
    };

    Restarts(const Survivors& problem, const Alarm& alarm, Patience patience, int seed = 0);

    // Improves `count` random supports, most of them drawn from the columns that explain most of y by themselves, some
    // from those with s > 0, with chances like s or all alike. Returns the best value so far, of all calls; `best`
    // is its support if this call has found it. Ends early when it has settled.
    double run(const ConstFix& fix, const ConstVector& s, int count, std::vector<Index>& best);

    // A value that is known from elsewhere: what is not better does not count.
    void know(double value);
    bool settled() const { return hits_ >= patience_.hits && started_ >= patience_.starts; }
    double work() const { return walk_ ? walk_->work() : 0.0; }

  private:
    bool draw(const ConstFix& fix, const ConstVector& s, const std::vector<Index>& pool, size_t count, bool alike,
              std::vector<Index>& support);
    double improve(const ConstFix& fix, std::vector<Index>& support);

    const Survivors& q_;
    const Alarm& alarm_;
    LocalSearch local_;
    std::unique_ptr<Walk> walk_;  // null: columns have rules
    std::vector<Index> likely_;   // the columns that explain most by themselves, the best first
    const Patience patience_;
    std::mt19937_64 random_;
    std::vector<std::pair<double, Index>> keys_;
    double best_value_ = INFINITY;
    int hits_ = 0, started_ = 0;
};

}  // namespace parsifal
