// What all sets of few columns share: see completions.hpp.
#pragma once

#include <vector>

#include "base/alarm.hpp"
#include "bound/quadratic.hpp"
#include "bound/signed_fit.hpp"

namespace parsifal {

// The columns scaled to unit length, their products with y, and for each column the
// sums of its largest correlations.
class CorrelationTable {
  public:
    static constexpr Index most_room = 12;  // places: beyond, row sums are of no use
    // Columns within this part of their length of the span of a set's others do not count where there is no ridge.
    static constexpr double independence = 1e-6;

    // Throws TimeUp when the alarm rings: half a table is of no use.
    explicit CorrelationTable(const Quadratic& q, const Alarm& alarm = Alarm::never());

    Index size() const { return scale_.size(); }
    double scale(Index j) const { return scale_[j]; }  // 0: a column of zeros
    const double* scales() const { return scale_.data(); }
    double product(Index j) const { return b_[j]; }  // x_j'y, of unit columns
    double y_square() const { return yy_; }
    double unit() const { return unit_; }  // error of every product of two unit columns, or of y / |y| and one
    bool has_ridge() const { return ridge_ > 0; }
    // What is asked of single columns; null: the same of all.
    const ColumnRules* rules() const { return q_.rules.get(); }
    double price(Index j) const { return q_.price_of(j); }
    double price_of(const std::vector<Index>& columns) const { return q_.price_of(columns); }
    double reach(Index j, double beta) const { return q_.rules ? q_.rules->reach(j, beta) : beta; }
    // 1/2 |y - X w|^2 over the w of the right signs; see signed_fit.hpp.
    SignedFit signed_fit(const std::vector<Index>& columns) const;
    const double* gram(Index j) const { return q_.gram.col(j).data(); }
    // The sum of the `count` largest |x_i'x_j| over the columns i that are not neighbours of j at this level.
    double largest(Index level, Index j, Index count) const {
        return count == 0 ? 0 : largest_(level * (most_room - 1) + count - 1, j);
    }

    // Neighbours at a level are columns with |x_i'x_j| above its limit: none at level 0, the more the higher the level.
    struct Neighbour {
        Index column;
        double cosine;  // |x_i'x_j|
    };
    static constexpr Index levels = 7;
    static constexpr double limit[levels] = {INFINITY, 0.6, 0.45, 0.35, 0.27, 0.21, 0.16};
    Index finest() const { return finest_; }          // the last level at which they are few
    Index pair_level() const { return pair_level_; }  // for pairs
    double nearest() const { return nearest_; }       // the largest |x_i'x_j| of all
    const std::vector<Neighbour>& neighbours(Index j) const { return neighbours_[static_cast<size_t>(j)]; }

  private:
    void sort_correlations(const Alarm& alarm);

    const Quadratic& q_;
    double ridge_, yy_, unit_;
    VectorXd scale_, b_;
    MatrixXd largest_;  // levels (most_room - 1) x columns: the sum of the largest, the two largest, ... |x_i'x_j|
    std::vector<std::vector<Neighbour>> neighbours_;  // at the finest level, the nearest first
    Index finest_ = 0, pair_level_ = 0;
    double nearest_ = 0;
};

}  // namespace parsifal
