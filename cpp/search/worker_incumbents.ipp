// Definitions of worker.hpp: supports on the way.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "search/worker.hpp"

namespace parsifal {

namespace worker_detail {

// Random restarts while the search goes on: the share of its work that they may take, by the relative gap, which is the
// incumbent's fault the more likely the wider it is; less of it once they have taken much (in the units of
// Restarts::work, about 0.2 ns); and none in a small tree, which is done before.
inline double walk_share(double gap, double taken) {
    const double share = gap > 0.2 ? 0.5 : gap > 0.1 ? 0.2 : gap > 0.01 ? 0.03 : 0.0;
    return taken < 2e10 ? share : 0.2 * share;
}
constexpr double walk_nodes = 50;
constexpr int walks_at_once = 16;
constexpr Restarts::Patience walk_patience{.hits = 10, .starts = 20'000};
// A linear system of the relaxation is about as much work as so many units a column.
constexpr double units_per_system = 100;

}  // namespace worker_detail

// The relaxation rounded, and now and then improved by swaps.
template <NodeModel Model>
void Worker<Model>::offer_rounding(const Fixes& fix) {
    const VectorXd &s = solver_->s(), &v = solver_->v();
    std::vector<Index> order;
    for (Index a = 0; a < fix.size(); ++a)
        if (fix[a] == 0 && s[a] > 0) order.push_back(a);
    double total = 0;
    for (const Index a : order) total += s[a];
    const auto room =
        static_cast<size_t>(std::clamp<Index>(tree_.model().room(fix), 0, static_cast<Index>(std::lround(total)) + 1));
    if (order.size() > room) {
        std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(room), order.end(),
                         [&](Index a, Index b) {
                             if (s[a] != s[b]) return s[a] > s[b];
                             const double x = std::abs(v[a]), y = std::abs(v[b]);
                             return x != y ? x > y : a < b;
                         });
        order.resize(room);
    }
    for (Index a = 0; a < fix.size(); ++a)
        if (fix[a] > 0) order.push_back(a);
    std::sort(order.begin(), order.end());
    if constexpr (requires { solver_->mend(fix, order); }) solver_->mend(fix, order);
    const bool thorough = ++rounds_ % 16 == 1;
    const double value = thorough ? solver_->improve(fix, order, 50) : solver_->value_of(order);
    if (value >= tree_.objective()) return;
    std::vector<Index> support;
    for (const Index a : order) support.push_back(frame_->columns[static_cast<size_t>(a)]);
    tree_.offer(value, support);
}

// Random restarts from the last relaxation, over all columns, for a share of the work that relaxations are. Ends for
// good once they have settled, until there is a better incumbent.
template <NodeModel Model>
void Worker<Model>::wander(double bound, int solves) {
    if constexpr (requires { tree_.model().walked(); }) {
        const Survivors* all = tree_.model().walked();
        const double objective = tree_.objective();
        const double gap = (objective - bound) / std::max(std::abs(objective), 1e-300);
        if (!all || tree_.nodes() < worker_detail::walk_nodes || worker_detail::walk_share(gap, 0) == 0) return;
        if (!restarts_) restarts_ = std::make_unique<Restarts>(*all, tree_.alarm(), worker_detail::walk_patience, id_);
        restarts_->know(objective);
        if (restarts_->settled()) return;
        walk_credit_ += worker_detail::walk_share(gap, restarts_->work()) * worker_detail::units_per_system * solves *
                        static_cast<double>(all->size());
        if (walk_credit_ <= 0) return;
        VectorXd s = VectorXd::Zero(all->size());
        s(frame_->columns) = solver_->s();
        std::vector<Index> support;
        const double before = restarts_->work();
        const double value = restarts_->run(tree_.root_fix(), s, worker_detail::walks_at_once, support);
        walk_credit_ -= restarts_->work() - before;
        if (value < objective && !support.empty()) tree_.offer(value, support);
    }
}

// A support that was met, improved by swaps.
template <NodeModel Model>
void Worker<Model>::offer(const Fixes& fix, std::vector<Index> support) {
    const double value = solver_->improve(fix, support, 50);
    if (!(value < tree_.objective())) return;
    for (Index& a : support) a = frame_->columns[static_cast<size_t>(a)];
    std::sort(support.begin(), support.end());
    tree_.offer(value, support);
}

}  // namespace parsifal
