// Good sets of groups: values, growth and swaps, in inner products.
#pragma once

#include <vector>

#include "base/alarm.hpp"
#include "bound/groups.hpp"

namespace parsifal {

class GroupSets {
  public:
    explicit GroupSets(const GroupedQuadratic& problem, const Alarm& alarm = Alarm::never());

    // c(S) and the prices of S: the value of the best coefficients that its linear system gives.
    double value_of(const std::vector<Index>& support);
    // Adds, removes and swaps groups, the few of steepest descent for each place, while that helps. Groups that are in
    // stay, those that are out do not enter. `support` is ascending, before and after.
    double improve(const Fixes& fix, std::vector<Index>& support, int max_moves);

  private:
    void solve(const std::vector<Index>& support);  // v_ on used_
    std::vector<Index> steepest(const Fixes& fix, const std::vector<Index>& support);

    const GroupedQuadratic& q_;
    const Alarm& alarm_;
    std::vector<Index> reference_;  // columns with v0 != 0
    std::vector<Index> used_;
    VectorXd v_;
};

}  // namespace parsifal
