#include "worker.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "dual.hpp"
#include "tighten.hpp"

namespace parsifal {

namespace {

constexpr int most_solves = 400;
// How near to convergence a node that will be branched on is brought, relative to what the cutoff leaves.
constexpr double branch_slack = 0.1;
// Frames wider than this are solved on a few columns first: those with |beta_j| above this part of the threshold.
constexpr Index wide = 300;
constexpr double near_threshold = 0.75;
// A new frame is gathered once this part of the old one's columns is left. A wide one is expensive to gather and, since
// the linear algebra is on the focus, saves little.
constexpr double narrow_shrink = 0.7, wide_shrink = 0.25;

bool fractional(double s) { return s > 1e-9 && s < 1 - 1e-9; }

}  // namespace

void Worker::loop() {
    std::vector<NodePtr> children;
    for (;;) {
        NodePtr node = tree_.next(id_, std::move(children), solves_);
        solves_ = 0;
        children.clear();
        if (!node) return;
        node = reframe(std::move(node));
        if (node) children = expand(std::move(node));
    }
}

void Worker::enter(const std::shared_ptr<const Frame>& frame) {
    if (frame_ == frame) return;
    heuristic_.reset();
    relaxation_.reset();
    focus_.reset();
    frame_ = frame;
    const Quadratic& root = tree_.root();
    quadratic_ = std::make_unique<Quadratic>(frame->problem(root.gamma, root.lambda, root.k));
    relaxation_ = std::make_unique<Relaxation>(*quadratic_, tree_.alarm());
}

NodePtr Worker::evaluate(const std::shared_ptr<const Frame>& frame, Fixes fix, VectorXd start, int parent, Index column,
                         signed char side, int depth, double parent_bound) {
    enter(frame);
    const Quadratic& root = tree_.root();
    const double objective = tree_.objective(), cutoff = tree_.cutoff(objective),
                 tolerance = 0.1 * (objective - cutoff);
    const VectorXd anchor = start;
    if (focus_) start = focused_start(fix, start, tolerance);
    RelaxationResult r =
        relaxation_->solve(fix, start, cutoff, tolerance, branch_slack, most_solves, focus_ ? &anchor : nullptr);
    solves_ += r.solves;
    if (r.stop == Stop::converged && integral(fix)) {
        // Nothing to branch on: this node ends here, so its bound has to be exact.
        const VectorXd best = relaxation_->best_v();
        r = relaxation_->solve(fix, VectorXd(relaxation_->v()), cutoff, tolerance, 0, most_solves, &best);
        solves_ += r.solves;
    }
    auto node = std::make_unique<Node>();
    node->frame = frame;
    node->depth = depth;
    // A child inherits its parent's bound: the parent's point is a dual point of the child too.
    node->bound = std::max(r.bound, parent_bound);
    Record entry{parent, column, side, frame->id, r.bound, {}, {}, {}};
    Index count = 0;
    if (r.stop != Stop::cutoff) {
        offer_rounding(fix);
        const VectorXd& beta = relaxation_->best_beta();
        const DualChoice choice = choose(beta, fix, root.gamma, root.lambda, root.k, scratch_);
        Fixes fixed = fix;
        count = fix_columns(beta, r.bound, tree_.cutoff(), choice, root.gamma, root.lambda, root.k, fixed);
        if (count != 0)
            for (Index a = 0; a < fix.size(); ++a)
                if (fixed[a] != fix[a]) {
                    const Index j = frame->columns[static_cast<size_t>(a)];
                    entry.fixed.push_back(fixed[a] > 0 ? 1 + j : -1 - j);
                }
        if (count < 0) node->bound = std::max(node->bound, tree_.cutoff());
        fix = fixed;
    }
    node->fix = fix;
    write_record(*node, std::move(entry));
    if (node->bound >= tree_.cutoff()) {
        tree_.prune(node->bound);
        return nullptr;
    }
    collect_candidates(*node);
    // Fixing may have decided what the relaxation had open: then solve again with what is fixed now.
    if (node->candidates.empty() && count > 0)
        return evaluate(frame, std::move(fix), VectorXd(relaxation_->v()), node->record, -1, 0, depth, node->bound);
    // Nothing fractional, yet not pruned (a relaxation that stalled): any free column will do.
    if (node->candidates.empty())
        for (Index a = 0; a < fix.size(); ++a)
            if (fix[a] == 0)
                node->candidates.push_back(
                    {a, frame->columns[static_cast<size_t>(a)], relaxation_->s()[a], relaxation_->v()[a]});
    if (node->candidates.empty()) {
        // Everything is decided: the ridge fit of the fixed columns, which was offered above, is the node.
        tree_.prune(node->bound);
        return nullptr;
    }
    return node;
}

void Worker::collect_candidates(Node& node) const {
    const VectorXd &v = relaxation_->v(), &s = relaxation_->s();
    for (Index a = 0; a < v.size(); ++a) {
        if (node.fix[a] < 0) continue;
        if (v[a] != 0) {
            node.index.push_back(a);
            node.v.push_back(v[a]);
        }
        if (node.fix[a] == 0 && fractional(s[a]))
            node.candidates.push_back({a, node.frame->columns[static_cast<size_t>(a)], s[a], v[a]});
    }
}

void Worker::write_record(Node& node, Record entry) {
    if (tree_.options().certificate_limit <= 0) return;
    const VectorXd& v = relaxation_->best_v();
    for (Index a = 0; a < v.size(); ++a)
        if (v[a] != 0) {
            entry.index.push_back(node.frame->columns[static_cast<size_t>(a)]);
            entry.w.push_back(v[a] * node.frame->scale[a]);
        }
    node.record = tree_.record(std::move(entry));
}

bool Worker::integral(const Fixes& fix) const {
    for (Index a = 0; a < fix.size(); ++a)
        if (fix[a] == 0 && fractional(relaxation_->s()[a])) return false;
    return true;
}

// The relaxation rounded, and now and then improved by swaps.
void Worker::offer_rounding(const Fixes& fix) {
    const VectorXd &s = relaxation_->s(), &v = relaxation_->v();
    std::vector<Index> order;
    Index forced = 0;
    for (Index a = 0; a < fix.size(); ++a) {
        if (fix[a] > 0) ++forced;
        if (fix[a] == 0 && s[a] > 0) order.push_back(a);
    }
    double total = 0;
    for (const Index a : order) total += s[a];
    const auto room =
        static_cast<size_t>(std::clamp<Index>(tree_.root().k - forced, 0, static_cast<Index>(std::lround(total)) + 1));
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
    if (!heuristic_) heuristic_ = std::make_unique<LocalSearch>(*quadratic_, tree_.alarm());
    const bool thorough = ++rounds_ % 16 == 1;
    const double value = thorough ? heuristic_->improve(fix, order, 50) : heuristic_->value_of(order);
    if (value >= tree_.objective()) return;
    std::vector<Index> support;
    for (const Index a : order) support.push_back(frame_->columns[static_cast<size_t>(a)]);
    tree_.offer(value, support);
}

// A smaller frame once enough columns are out; tightened anew once few enough are left. May prune.
NodePtr Worker::reframe(NodePtr node) {
    const Frame& old = *node->frame;
    const SearchOptions& options = tree_.options();
    Index live = 0;
    for (Index a = 0; a < old.size(); ++a) live += node->fix[a] >= 0;
    const auto width = static_cast<double>(live);
    // Where the root could be tightened, doing so again for fewer columns never paid (measured on the real data sets
    // and on n > p instances: a third fewer nodes at twice the time each); where it could not, the first chance is
    // taken.
    const bool first_chance = !old.tightened && live < options.rank && live <= options.tighten_at_most && live > 1;
    const double worth = old.size() > wide ? wide_shrink : narrow_shrink;
    if (!first_chance && width > worth * static_cast<double>(old.size())) return node;
    std::vector<Index> columns;
    Fixes fix(live);
    VectorXd w(live), diagonal(live);
    const VectorXd v = node->dense();
    for (Index a = 0, b = 0; a < old.size(); ++a)
        if (node->fix[a] >= 0) {
            columns.push_back(old.columns[static_cast<size_t>(a)]);
            fix[b] = node->fix[a];
            w[b] = v[a] * old.scale[a];
            diagonal[b] = old.diagonal[a];
            ++b;
        }
    if (first_chance) {
        const MatrixXd gram = tree_.root().gram(columns, columns);
        const VectorXd weight = gram.diagonal().cwiseMax(1e-300).cwiseInverse();
        const VectorXd better = tightening(gram, weight, 25, tree_.root().rounding.unit_for(live), tree_.root().gamma);
        if (weight.dot(better) > weight.dot(diagonal)) diagonal = better;
    }
    if (!(diagonal.array() > 0).any()) diagonal.setZero();
    auto fresh = make_frame(tree_.root(), std::move(columns), w, diagonal);
    fresh->tightened = old.tightened || first_chance;
    tree_.register_frame(*fresh);
    return evaluate(fresh, fix, fresh->v0, node->record, -1, 0, node->depth, node->bound);
}

// Sets a column to `side` in a copy of the node's fixes, with what its twins imply.
Fixes Worker::decide(const Node& node, Index position, signed char side) const {
    Fixes fix = node.fix;
    fix[position] = side;
    if (!tree_.has_twins()) return fix;
    const auto& columns = node.frame->columns;
    std::vector<Index> chain{columns[static_cast<size_t>(position)]};
    auto imply = [&](Index other) {
        const auto found = std::lower_bound(columns.begin(), columns.end(), other);
        if (found == columns.end() || *found != other) return;
        Fixes::Scalar& mark = fix[found - columns.begin()];
        if (mark != 0) return;
        mark = side;
        chain.push_back(other);
    };
    while (!chain.empty()) {
        const Index at = chain.back();
        chain.pop_back();
        if (side > 0) {
            if (tree_.earlier(at) >= 0) imply(tree_.earlier(at));
        } else {
            for (const Index later : tree_.later(at)) imply(later);
        }
    }
    return fix;
}

bool Worker::overfull(const Fixes& fix) const {
    Index in = 0;
    for (Index a = 0; a < fix.size(); ++a) in += fix[a] > 0;
    return in > tree_.root().k;
}

std::vector<NodePtr> Worker::expand(NodePtr node) {
    std::vector<NodePtr> children;
    enter(node->frame);
    const VectorXd v = node->dense();
    const Candidate chosen = pick(*node, v);
    focus(*node, v);
    double bound[2] = {tree_.cutoff(), tree_.cutoff()};
    for (const signed char side : {static_cast<signed char>(1), static_cast<signed char>(-1)}) {
        // Not between the children: a record of one without the other would be a proof with a hole.
        if (side > 0 && tree_.halted()) {
            children.clear();
            children.push_back(std::move(node));
            break;
        }
        Fixes fix = decide(*node, chosen.position, side);
        if (overfull(fix)) continue;
        NodePtr child =
            evaluate(node->frame, std::move(fix), v, node->record, chosen.column, side, node->depth + 1, node->bound);
        if (child) {
            bound[side > 0] = child->bound;
            children.push_back(std::move(child));
        }
    }
    if (node) tree_.pseudo().learn(chosen, bound[1] - node->bound, bound[0] - node->bound);
    focus_.reset();
    return children;
}

Candidate Worker::pick(const Node& node, const VectorXd& v) {
    const SearchOptions& options = tree_.options();
    if (node.candidates.size() == 1) return node.candidates[0];
    if (options.branching != Branching::strong) return tree_.pseudo().choose(node.candidates, options.branching);
    // Strong branching: a few Newton steps on both children of the most promising columns.
    const std::vector<Candidate> shortlist = tree_.pseudo().shortlist(node.candidates, 8);
    const double cutoff = tree_.cutoff(), least = 1e-9 * std::abs(node.bound);
    double best = -INFINITY;
    Candidate choice = shortlist[0];
    for (const Candidate& candidate : shortlist) {
        double gain[2];
        for (const signed char side : {static_cast<signed char>(1), static_cast<signed char>(-1)}) {
            const Fixes fix = decide(node, candidate.position, side);
            const RelaxationResult r = relaxation_->solve(fix, v, cutoff, 0, branch_slack, 3);
            solves_ += r.solves;
            gain[side > 0] = std::min(std::max(r.bound, node.bound), cutoff) - node.bound;
        }
        const double score = std::max(gain[0], least) * std::max(gain[1], least);
        if (score > best) {
            best = score;
            choice = candidate;
        }
    }
    return choice;
}

// The smallest |beta_j| that the best completion takes, among the free columns of `fix`.
double Worker::threshold(const VectorXd& beta, const Fixes& fix) {
    Index room = quadratic_->k;
    scratch_.clear();
    for (Index a = 0; a < beta.size(); ++a) {
        if (fix[a] > 0) --room;
        if (fix[a] == 0) scratch_.push_back(std::abs(beta[a]));
    }
    const double least = std::sqrt(2 * quadratic_->lambda / quadratic_->gamma);
    if (room <= 0) return INFINITY;
    if (static_cast<size_t>(room) >= scratch_.size()) return least;
    std::nth_element(scratch_.begin(), scratch_.begin() + (room - 1), scratch_.end(), std::greater<>());
    return std::max(least, scratch_[static_cast<size_t>(room) - 1]);
}

void Worker::focus(const Node& node, const VectorXd& v) {
    focus_.reset();
    const Index m = frame_->size();
    if (m <= wide) return;
    focus_ = std::make_unique<Focus>();
    quadratic_->gradient(v, focus_->beta);
    focus_->v = v;
    focus_->ls = quadratic_->least_squares(v, focus_->beta);
    const double least = near_threshold * threshold(focus_->beta, node.fix);
    for (Index a = 0; a < m; ++a)
        if (node.fix[a] > 0 || v[a] != 0 || (node.fix[a] == 0 && std::abs(focus_->beta[a]) >= least))
            focus_->columns.push_back(a);
    if (2 * static_cast<Index>(focus_->columns.size()) > m)
        focus_.reset();
    else
        gather_focus();
}

void Worker::gather_focus() {
    Focus& f = *focus_;
    f.relaxation.reset();
    f.gram = quadratic_->gram(f.columns, f.columns);
    f.v0 = f.v(f.columns);
    f.beta0 = f.beta(f.columns);
    f.quadratic = std::make_unique<Quadratic>(
        Quadratic{f.gram, f.v0, f.beta0, f.ls, quadratic_->gamma, quadratic_->lambda, quadratic_->k});
    f.relaxation = std::make_unique<Relaxation>(*f.quadratic, tree_.alarm());
}

VectorXd Worker::focused_start(const Fixes& fix, const VectorXd& start, double tolerance) {
    VectorXd lifted = start, beta;
    const double cutoff = tree_.cutoff();
    for (int pass = 0; pass < 3; ++pass) {
        Focus& f = *focus_;
        const Fixes fix_near = fix(f.columns);
        const VectorXd anchor = start(f.columns);
        const RelaxationResult r = f.relaxation->solve(fix_near, VectorXd(lifted(f.columns)), cutoff, tolerance,
                                                       0.5 * branch_slack, most_solves, &anchor);
        solves_ += r.solves;
        if (r.stop == Stop::cutoff) {
            // Part of the way from the parent's point to this one the bound may pass the cutoff on all columns.
            lifted.setZero();
            lifted(f.columns) = f.relaxation->best_v();
            quadratic_->gradient(lifted, beta);
            const Along along = best_along(*quadratic_, fix, f.v, f.beta, VectorXd(lifted - f.v),
                                           VectorXd(beta - f.beta), cutoff, pairs_);
            if (along.value > cutoff) return f.v + along.t * (lifted - f.v);
        }
        lifted.setZero();
        lifted(f.columns) = f.relaxation->v();
        quadratic_->gradient(lifted, beta);
        const double least = (1 + 1e-6) * threshold(VectorXd(beta(f.columns)), fix_near);
        std::vector<Index> missing;
        for (Index a = 0; a < fix.size(); ++a)
            if (fix[a] == 0 && std::abs(beta[a]) > least) missing.push_back(a);
        std::vector<Index> wider;
        std::set_union(f.columns.begin(), f.columns.end(), missing.begin(), missing.end(), std::back_inserter(wider));
        if (wider.size() == f.columns.size() || 2 * static_cast<Index>(wider.size()) > fix.size()) break;
        f.columns = std::move(wider);
        gather_focus();
    }
    return lifted;
}

}  // namespace parsifal
