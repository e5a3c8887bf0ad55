#pragma once

#include <numeric>
#include <vector>

#include "bound/quadratic.hpp"

namespace parsifal {

// The sum of the `count` largest positive numbers given to it.
class Largest {
  public:
    Largest(std::vector<double>& store, Index count) : store_(store), count_(static_cast<size_t>(count)) {
        store_.assign(count_, 0.0);
    }
    double least() const { return count_ ? store_.back() : INFINITY; }
    void add(double x) {
        if (!(x > least())) return;
        size_t at = count_ - 1;
        for (; at > 0 && store_[at - 1] < x; --at) store_[at] = store_[at - 1];
        store_[at] = x;
    }
    double sum() const { return std::accumulate(store_.begin(), store_.end(), 0.0); }

  private:
    std::vector<double>& store_;
    size_t count_;
};

}  // namespace parsifal
