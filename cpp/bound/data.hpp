// The data themselves, for what inner products do not tell: which columns depend on which, where there is no ridge, and
// what a single set leaves of y.
#pragma once

#include <vector>

#include "bound/quadratic.hpp"

namespace parsifal {

struct Data {
    Eigen::Map<const MatrixXd> columns{nullptr, 0, 0};  // none: not at hand
    Eigen::Map<const VectorXd> y{nullptr, 0};
    double ridge = 0;  // 1 / gamma

    bool at_hand() const { return columns.size() > 0; }
    // Whether column j is within `independence` of the span of `in`.
    bool dependent(const std::vector<Index>& in, Index j) const;
    // Not above 1/2 |y - X w|^2 + ridge/2 |w|^2 for any w on these columns (docs/numerics.md).
    double least_value(const std::vector<Index>& set) const;
    // Multiplications of that, about.
    double work(const std::vector<Index>& set) const;

  private:
    // Of a sum over the rows, and one over so many columns.
    static double unit_for(Index terms) { return 1.01 * static_cast<double>(terms + 8) * unit_roundoff; }
};

}  // namespace parsifal
