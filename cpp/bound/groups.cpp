#include "bound/groups.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace parsifal {

DualChoice choose_groups(const VectorXd& a, const ConstFix& fix, Index room, std::vector<double>& scratch) {
    DualChoice c;
    scratch.clear();
    for (Index g = 0; g < a.size(); ++g) {
        if (fix[g] < 0) continue;
        // What is no number spoils the bound, as it should.
        if (fix[g] > 0 || std::isnan(a[g]))
            c.taken += a[g];
        else if (a[g] > 0)
            scratch.push_back(a[g]);
    }
    if (room <= 0) {
        for (const double gain : scratch) c.best_out = std::max(c.best_out, gain);
        c.last_in = INFINITY;  // no room at all: a free group cannot enter
        return c;
    }
    std::sort(scratch.begin(), scratch.end(), std::greater<>());
    const auto places = static_cast<size_t>(room);
    if (scratch.size() >= places) c.last_in = scratch[places - 1];
    if (scratch.size() > places) {
        c.best_out = scratch[places];
        scratch.resize(places);
    }
    for (auto gain = scratch.rbegin(); gain != scratch.rend(); ++gain) c.taken += *gain;
    return c;
}

Index fix_groups(const VectorXd& a, double bound, double cutoff, const DualChoice& choice, Index room,
                 Eigen::Ref<Fixes> fix) {
    if (bound > cutoff || room < 0) return -1;
    Index fixed = 0;
    for (Index g = 0; g < a.size(); ++g) {
        if (fix[g] != 0 || !std::isfinite(a[g])) continue;
        // A group counts as chosen when it is above everything that was left out; at a tie neither rule can fire.
        const bool chosen = a[g] > 0 && a[g] >= choice.last_in;
        const double other = chosen ? choice.best_out : choice.last_in, change = chosen ? a[g] - other : other - a[g];
        const double rounding = 8 * unit_roundoff * (std::abs(bound) + std::abs(a[g]) + other);
        // Without a place left nothing can enter; otherwise the bound of the other choice decides.
        const bool decided = std::isinf(other) || bound + change - rounding > cutoff;
        if (!decided) continue;
        fix[g] = chosen ? 1 : -1;
        ++fixed;
        if (chosen) --room;
    }
    return room < 0 ? -1 : fixed;
}

SafeDual safe_dual(const GroupedQuadratic& q, const ConstFix& fix, const VectorXd& v, VectorXd& beta,
                   std::vector<double>& scratch) {
    const Quadratic& columns = q.columns;
    const double squares = columns.least_squares(v, beta), fit = v.dot(beta),
                 error = columns.allow_for_rounding(v, beta);
    SafeDual safe;
    q.gains(beta, safe.a);
    double priced = 0;
    for (Index g = 0; g < q.size(); ++g) {
        // The sum of a group's squares, the product with gamma and the difference.
        const double gain = safe.a[g] + q.price[g];
        safe.a[g] += 1.01 * unit_roundoff * (static_cast<double>(q.width(g) + 8) * gain + 2 * q.price[g]);
        if (fix[g] > 0) priced += q.price[g];
    }
    const DualChoice choice = choose_groups(safe.a, fix, q.room(fix), scratch);
    const double count = static_cast<double>(std::min(q.k, q.size()));
    const double sums =
        (count + 16) * unit_roundoff * (std::abs(squares) + std::abs(fit) + std::abs(choice.taken) + 2 * priced);
    safe.bound = squares + fit - choice.taken - error - sums;
    return safe;
}

}  // namespace parsifal
