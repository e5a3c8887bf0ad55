#include "bound/group_sets.hpp"

#include <algorithm>
#include <cmath>

namespace parsifal {

namespace {

constexpr size_t candidates = 10;  // tried for a place: those of steepest descent

std::vector<Index> with(std::vector<Index> support, Index g) {
    support.insert(std::lower_bound(support.begin(), support.end(), g), g);
    return support;
}

}  // namespace

GroupSets::GroupSets(const GroupedQuadratic& problem, const Alarm& alarm) : q_(problem), alarm_(alarm) {
    for (Index j = 0; j < q_.columns.size(); ++j)
        if (q_.columns.v0[j] != 0) reference_.push_back(j);
}

void GroupSets::solve(const std::vector<Index>& support) {
    used_.clear();
    for (const Index g : support)
        for (Index i = 0; i < q_.width(g); ++i) used_.push_back(q_.first(g) + i);
    v_.resize(static_cast<Index>(used_.size()));
    if (used_.empty()) return;
    MatrixXd system = q_.columns.gamma * q_.columns.gram(used_, used_);
    system.diagonal().array() += 1;
    v_ = q_.columns.gamma * q_.at_zero(used_);
    cholesky(system);
    solve_cholesky(system, v_);
}

double GroupSets::value_of(const std::vector<Index>& support) {
    solve(support);
    // LS around the reference point, from the gradients there and at v on the columns where v or v0 is not zero.
    const Quadratic& columns = q_.columns;
    VectorXd change = VectorXd::Zero(columns.size());
    change(reference_) -= columns.v0(reference_);
    change(used_) += v_;
    auto pull = [&](Index j) {
        double beta = q_.at_zero[j];
        for (size_t b = 0; b < used_.size(); ++b) beta -= v_[static_cast<Index>(b)] * columns.gram(used_[b], j);
        return columns.beta0[j] + beta;
    };
    double value = columns.ls0 + v_.squaredNorm() / (2 * columns.gamma);
    for (Index j = 0; j < columns.size(); ++j)
        if (change[j] != 0) value -= 0.5 * change[j] * pull(j);
    for (const Index g : support) value += q_.price[g];
    return std::isfinite(value) ? value : INFINITY;
}

// The open groups that take most off, at the solution of the support.
std::vector<Index> GroupSets::steepest(const Fixes& fix, const std::vector<Index>& support) {
    solve(support);
    VectorXd beta = q_.at_zero, a;
    for (size_t b = 0; b < used_.size(); ++b)
        beta.noalias() -= v_[static_cast<Index>(b)] * q_.columns.gram.col(used_[b]);
    q_.gains(beta, a);
    std::vector<Index> order;
    for (Index g = 0; g < q_.size(); ++g)
        if (fix[g] >= 0 && !std::binary_search(support.begin(), support.end(), g)) order.push_back(g);
    const size_t count = std::min(candidates, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](Index g, Index h) { return a[g] != a[h] ? a[g] > a[h] : g < h; });
    order.resize(count);
    return order;
}

double GroupSets::improve(const Fixes& fix, std::vector<Index>& support, int max_moves) {
    double best = value_of(support);
    int moves = 0;
    auto adopt_best = [&](const std::vector<Index>& without, double& least, std::vector<Index>& chosen) {
        for (const Index g : steepest(fix, without)) {
            std::vector<Index> trial = with(without, g);
            const double value = value_of(trial);
            if (value < least) {
                least = value;
                chosen = std::move(trial);
            }
        }
    };
    for (bool better = true; better && moves < max_moves && !alarm_.rings();) {
        const double before = best;
        std::vector<Index> chosen = support;
        while (static_cast<Index>(support.size()) < q_.k && moves < max_moves) {
            adopt_best(support, best, chosen);
            if (chosen == support) break;
            support = chosen;
            ++moves;
        }
        const std::vector<Index> present = support;
        for (const Index g : present) {
            if (fix[g] > 0 || moves >= max_moves) continue;
            std::vector<Index> less = support;
            less.erase(std::remove(less.begin(), less.end(), g), less.end());
            chosen = support;
            const double without = value_of(less);
            if (without < best) {
                best = without;
                chosen = less;
            }
            adopt_best(less, best, chosen);
            if (chosen != support) ++moves;
            support = chosen;
        }
        better = best < before;
    }
    return best;
}

}  // namespace parsifal
