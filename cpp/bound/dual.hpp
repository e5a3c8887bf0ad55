// The dual value: for any v, with beta = -grad LS(v) and a_j = gamma/2 beta_j^2 - lambda,
//
//   D(v) = LS(v) + v'beta - sum_{in} a_j - (sum of the `room` largest positive a_j among the free)
//
// is a lower bound on every completion of the node; room = k - |in|. Also the two thresholds of safe fixing. Columns
// with a price or a sign of their own have a_j = gamma/2 max(0, sign_j beta_j)^2 - price_j (Terms::gain).
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "bound/quadratic.hpp"

namespace parsifal {

// Where at most so many columns of a group may be chosen (ColumnRules::cap), the largest sum is still found by taking
// the largest first, as long as their groups have room: a laminar matroid. There a column that enters displaces the
// last of its group, if that is full, and one that leaves makes room for the next of its group, too.
struct CapChoice {
    bool full = false;
    double last_in = 0, best_out = 0;
};

struct DualChoice {
    double taken = 0;     // what the best completion of the node takes off: sum over `in` and the chosen free columns
    double last_in = 0;   // what a free column that is forced in displaces (0 if there is room left)
    double best_out = 0;  // what replaces a chosen column that is forced out
    std::vector<CapChoice> caps;

    // What a column displaces if it is forced in, and what replaces it if it is forced out.
    double displaced(const Terms& terms, Index j) const {
        const CapChoice* cap = cap_of(terms, j);
        return cap && cap->full ? cap->last_in : last_in;
    }
    double replacement(const Terms& terms, Index j) const {
        const CapChoice* cap = cap_of(terms, j);
        return cap && cap->full ? std::max(best_out, cap->best_out) : best_out;
    }

  private:
    const CapChoice* cap_of(const Terms& terms, Index j) const {
        if (caps.empty()) return nullptr;
        const Index own = terms.rules->cap[static_cast<size_t>(j)];
        return own < 0 ? nullptr : &caps[static_cast<size_t>(own)];
    }
};

// Scratch may be any vector; it is reused to avoid allocation. Columns with fix == out are ignored.
DualChoice choose(const ConstVector& beta, const ConstFix& fix, const Terms& terms, std::vector<double>& scratch);

// With `bound` the dual value that belongs to `beta` and `cutoff` a value that an improving solution must beat:
// writes out/in into `fix` where the opposite choice has a bound above the cutoff. Returns how many were fixed, or
// -1 if a contradiction shows that the node holds no improving solution.
Index fix_columns(const ConstVector& beta, double bound, double cutoff, const DualChoice& choice, const Terms& terms,
                  Eigen::Ref<Fixes> fix);

// The smallest |beta_j| (Terms::magnitude) that the best completion takes, among free columns of which `room` may still
// be chosen.
double dual_threshold(const ConstVector& beta, const ConstFix& fix, Index room, const Terms& terms,
                      std::vector<double>& scratch);

// What the last sums of a dual value can round by, and those that fixing makes of them; `parts` is the size of the
// terms.
double rounding_of_sums(const ConstVector& beta, const ConstFix& fix, const Terms& terms, double parts);

// A point on the segment between two dual points, t = 0 the first, t = 1 the second, and its dual value.
struct Along {
    double t = 0, value = -INFINITY;
};

// Where D is largest on the segment from (v, beta) to (v + d, beta + g), nearly: D is concave, and an evaluation costs
// no more than a selection of the k largest. Stops early at a value above `enough`.
Along best_along(const Quadratic& q, const ConstFix& fix, const ConstVector& v, const ConstVector& beta,
                 const ConstVector& d, const ConstVector& g, double enough,
                 std::vector<std::pair<double, double>>& scratch);

}  // namespace parsifal
