// Sets of few columns, bounded without the ridge: whether a node has a completion below the cutoff, decided depth
// first.
//
// With the ridge put into the columns (x~_j = (x_j, e_j / sqrt(gamma)), gamma = inf included) and the columns I in, let
// r be what is left of y and z_j what is left of a free column once span(x~_I) is taken out, b_j = z_j'r / |z_j| and
// g_ij the cosines between the z_j. For every set T of free columns
//
//   c(I + T) = 1/2 |r|^2 - 1/2 b_T' G_T^-1 b_T
//            >= 1/2 |r|^2 - 1/2 sum over T of b_j^2 / d_j,     d_j = 1 - (sum of the |T| - 1 largest |g_ij|)
//
// wherever the d_j are positive (Gershgorin on T alone: however many columns there are, a set has few). One and two
// columns have closed forms. What the bound does not close is branched on, the strongest column first, and the bound is
// tried again on the columns that remain: so one test closes all later siblings.
//
// Columns with a price of their own count with it. A column of T with a sign counts with max(0, sign_j b_j) in place of
// b_j: its coefficient is the same before and after the projection. Those in have lost their signs, so a set that is
// below the cutoff is fitted with all of them (signed_fit.hpp), and has to be allowed by the side constraints.
//
// A node keeps |I| coordinates a column, L_j = Q'x_j: g_ij |z_i| |z_j| = x_i'x_j - L_i'L_j. Rows of correlations are
// computed when they are needed. docs/numerics.md has the allowance for rounding.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/alarm.hpp"
#include "bound/correlation_table.hpp"
#include "bound/data.hpp"
#include "bound/gap.hpp"

namespace parsifal {

class Completions {
  public:
    Completions(const CorrelationTable& table, const Alarm& alarm, const Data& data);

    struct Answer {
        bool closed = false;         // every completion was looked at, or bounded
        bool resolved = true;        // no set is beyond what inner products resolve: then nothing is known of it
        double bound = -INFINITY;    // below every completion's objective (closed: the cutoff, up to rounding)
        double value = INFINITY;     // of the best completion found below the cutoff
        std::vector<Index> support;  // that one
        // Not closed: the columns to branch on, in this order. Without all of them the node is closed, and so it is
        // with one of the first `done` in and those before it out.
        std::vector<Index> branch;
        size_t done = 0;
        double closed_bound = INFINITY;  // below all that is closed
        double work = 0;                 // multiplications, about
    };

    // The node with the columns `in`, `free` ones of which up to `room` may follow, and an incumbent's objective.
    Answer close(const std::vector<Index>& in, const std::vector<Index>& free, Index room, double objective,
                 const Gap& gap, double most_work);

  private:
    using Pair = std::pair<Index, Index>;  // a position, and a column near the one there

    // A node of the depth-first search: what is left of y and of its columns, which are in order of their gains.
    struct Level {
        std::vector<Index> column, origin;  // origin: position in the level above
        std::vector<double> z2;             // |z_j|^2
        std::vector<double> beta;           // |z_j| b_j
        std::vector<double> gain;           // b_j^2, lengthened by what rounding can be worth
        std::vector<double> worth;          // gain / d - 2 price: at most what it takes off 2 c; infinite: no bound
        std::vector<double> coordinate;     // rank x capacity: L
        std::vector<Index> place;           // of every column of the problem, if it is here
        std::vector<Index> alone;           // columns that `apart` tries by themselves, and pairs, each with
        std::vector<Pair> near;             // all others
        std::vector<double> least;          // 2 c of all sets of the columns from each on, without their prices
        Index size = 0, capacity = 0, rank = 0;
        const Level* above = nullptr;  // while its own coordinates have not been gathered: the level above, and the
        const double* step = nullptr;  // last coordinate of that one's columns
        double rr = 0;                 // |r|^2
        double w_size = 0;             // sum over I of |w_i|
        double inverse_square = 0;     // |L_I^-1|_F^2
        double stretch = 1;            // 1 + the coefficients on I that stand for one more column, at most

        double* row(Index l) { return coordinate.data() + l * capacity; }
        const double* row(Index l) const { return coordinate.data() + l * capacity; }
        void reserve(Index columns, Index rows);
    };

    bool plant(const std::vector<Index>& in, const std::vector<Index>& free, Index room);
    void push(Level& level, const Level& up, const double* coordinates, double pivot, double beta);
    void explore(Index depth, Index room, Answer* top);
    void descend(Index depth, Index position, Index from, Index room, std::span<const Pair> near = {});
    bool apart(Index depth, Index first, Index room);
    void list_neighbours(Level& at, Index first, Index level);
    void singles(Level& at, Index room);
    void pairs(Level& at);
    void pair_row(Level& at, Index position, Index first, Index last);
    bool strong_neighbours(Level& at, double most, double gain, double closest);
    void row_bounds(Level& at, Index first, Index room, Index level = 0);
    void locate(Level& at) const;
    void whole(const Level& at, const std::vector<Index>& order, std::vector<double>& least, std::vector<double>* loss);
    void whole_bounds(Level& at);
    static void rearrange(Level& at, const std::vector<Index>& order);
    bool bounded(Level& at, Index first, Index room, bool thorough);
    bool drop(Level& at, Index room);
    void leave_out(Level& at, Index room, double sure);
    static void move(Level& at, size_t from, size_t to);
    void sort(Level& at);
    void gather_rows(const Level& up, Level& at, const double* step);
    void correlations(const Level& at, Index position, Index first, Index last, double* out);
    bool counts(const Level& at, double z2, double z2d, Index room, Index j);
    void found(double value, double charge, std::initializer_list<Index> more);
    bool judge(double& value, double& charge, std::initializer_list<Index> more) const;
    void sign_gains(Level& at, double longer) const;
    bool imply(Level& at);
    bool pair_signs(const Level& at, size_t i, size_t j, double g, double most) const;
    void rank_branches(Level& at, Index room, Index from, Answer& answer);

    double threshold(const Level& at) const;
    double lengthening(const Level& at, Index room) const;
    double least_resolved(const Level& at, Index room) const;
    bool resolved(const Level& at, double z2d, Index room) const;
    Index affordable(Index room) const;
    double value_of(const Level& at, double taken, std::initializer_list<Index> more) const;
    double least_price() const;
    double price_in() const { return table_.price_of(in_); }
    double paid(const Level& at, size_t a) const { return alike_ ? paid_ : 2 * table_.price(at.column[a]); }
    double least_paid(const Level& at) const;
    bool spend(double work);

    // Below this part of a column's squared length its distance to a span is asked of the data.
    static constexpr double nearly_dependent = 1e-8;

    const CorrelationTable& table_;
    const Alarm& alarm_;
    const Data& data_;
    const bool alike_;   // all columns cost the same: half of
    const double paid_;  // this
    std::vector<Level> levels_;
    std::vector<Index> in_;
    Fixes fix_;
    std::vector<double> q_;        // coordinates of y
    std::vector<double> inverse_;  // of the factor of the columns in: rows of a lower triangle
    std::vector<double> row_, step_, own_, scratch_, scaled_;
    std::vector<Index> order_;
    std::vector<double> rest_, apart_, products_;
    std::vector<double> top_;

    Gap gap_;
    double cutoff_ = INFINITY, best_value_ = INFINITY, lowest_ = INFINITY;
    double work_ = 0, most_work_ = 0, heard_ = 0;
    double roundoff_ = 0, set_size_ = 1, cheapest_ = 0;
    bool stopped_ = false, unresolved_ = false;
    std::vector<Index> best_;
};

}  // namespace parsifal
