// Few columns straight through: their products once, and for any k, gamma and price the best support with its proof.
//
// A greedy support is improved by swaps and fitted on the data, and its completions, which are all sets, are gone
// through; what they find is fitted as well. No frame, no tree and no thread is made for it. Where anything is not
// plain sailing (columns that repeat each other, sizes that hardly square, a set that inner products do not tell), the
// answer is that it is not settled, and whoever asked takes the long way, which begins afresh.
#pragma once

#include <vector>

#include "bound/data.hpp"
#include "bound/gap.hpp"
#include "bound/quadratic.hpp"

namespace parsifal {

class FewColumns {
  public:
    // Refers to the columns and to y, which have to outlive it.
    FewColumns(const Eigen::Map<const MatrixXd>& columns, const Eigen::Map<const VectorXd>& y);

    // Whether they may go straight through at all.
    bool plain() const { return plain_; }
    const VectorXd& product() const { return product_; }  // X'y
    double y_square() const { return y_square_; }
    const MatrixXd& gram() const { return gram_; }
    const Rounding& rounding() const { return rounding_; }
    // |y - X w|^2 for w on these columns.
    double residual_square(const std::vector<Index>& support, const ConstVector& w) const;

    struct Answer {
        bool settled = false;        // if not, nothing else is said
        std::vector<Index> support;  // sorted; empty with w, where nothing below `known` was found
        VectorXd w;
        double objective = INFINITY;  // of that fit, or `known`
        double lower_bound = -INFINITY;
    };

    // The best support of at most k columns that agrees with `fix`. `starts` are supports to begin with besides, and
    // `known` the objective of one that the caller has.
    Answer solve(const Terms& terms, const ConstFix& fix, const std::vector<std::vector<Index>>& starts, double known,
                 const Gap& gap, double seconds) const;

  private:
    bool offer(const Terms& terms, std::vector<Index> support, Answer& best) const;

    Data data_;
    double y_square_ = 0;
    VectorXd product_, zero_;
    MatrixXd gram_;
    Rounding rounding_;
    bool plain_ = false;
};

}  // namespace parsifal
