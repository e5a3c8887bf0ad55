#include "search/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "bound/dual.hpp"
#include "bound/tighten.hpp"

namespace parsifal {

namespace {

// Wide frames are solved on a few columns first: those with |beta_j| above this part of the threshold.
constexpr double in_focus = 0.75;
// A new frame is gathered once this part of the old one's columns is left. A wide one is expensive to gather and, since
// the linear algebra is on the focus, saves little.
constexpr double narrow_shrink = 0.7, wide_shrink = 0.25;
// Where a diagonal can be had: every new frame gets its own, for its columns and its point, which is most of the price.
// Without some of them, columns that depend on each other may have something to give.
constexpr double tight_shrink = 0.95;
// A node's diagonal: steps from nothing and from its parent's, and the weight of the columns that gain nothing by it at
// the node's point, relative to the one that gains most.
constexpr int first_steps = 25, tight_steps = 8;
constexpr double least_weight = 0.3;
// Without a ridge: how many columns may be looked at for dependencies, and how many of these are decided one by one.
constexpr Index most_independent = 500, most_dependencies = 8;
// Columns whose cosine, ridge and all, is this near to one make sets that inner products hardly tell apart.
constexpr double twin_distance = 1e-8;

Index count_live(const Fixes& fix) {
    Index live = 0;
    for (Index a = 0; a < fix.size(); ++a) live += fix[a] >= 0;
    return live;
}

}  // namespace

// ---- Frames

std::shared_ptr<Frame> LeastSquares::gather(const FrameState& state) const {
    auto frame = make_frame(root_, state.columns, state.w, state.diagonal);
    frame->tightened = state.tightened;
    frame->id = state.id;
    return frame;
}

FrameState LeastSquares::save(const Frame& frame) const {
    return {frame.columns, frame.diagonal, frame.v0.cwiseProduct(frame.scale), frame.tightened, frame.id};
}

// Copies of columns have nothing to give, so that a frame of some has little to gain by a diagonal of its own.
bool LeastSquares::can_tighten(const Frame& frame, Index live) const {
    // Without a ridge a diagonal is what makes a relaxation, and there are no copies where there is one.
    const Index most = frame.relaxes() ? tighten_at_most_ : most_independent;
    const bool copies = copies_ && std::isfinite(root_.gamma);
    return live < rank_ && live <= most && live > 1 && !(copies && frame.tightened);
}

bool LeastSquares::worth_narrowing(const Frame& frame, const Fixes& fix) const {
    const Index live = count_live(fix);
    if (can_tighten(frame, live) && !frame.tightened) return true;
    const double worth = frame.size() > wide_frame  ? wide_shrink
                         : can_tighten(frame, live) ? tight_shrink
                                                    : narrow_shrink;
    return !(static_cast<double>(live) > worth * static_cast<double>(frame.size()));
}

// What a unit of the diagonal is worth to the bound at the point v of the old frame, for the columns that are not out:
// w_j^2 (1 / s_j - 1) to first order, s about |v_j|; nothing for a column that is in.
VectorXd LeastSquares::weights(const Frame& old, const Fixes& fix, const VectorXd& v, const VectorXd& squares) const {
    const auto room = static_cast<double>(std::max<Index>(root_.room(fix), 1));
    double total = 0, most = 0;
    for (Index a = 0; a < old.size(); ++a)
        if (fix[a] == 0) total += std::abs(v[a]);
    VectorXd weight = VectorXd::Zero(squares.size());
    for (Index a = 0, b = 0; a < old.size(); ++a) {
        if (fix[a] < 0) continue;
        if (fix[a] == 0 && v[a] != 0) {
            const double w = v[a] * old.scale[a], s = std::min(1.0, std::abs(v[a]) * room / total);
            weight[b] = w * w * (1 / s - 1);
            most = std::max(most, weight[b] * squares[b]);
        }
        ++b;
    }
    // Without a ridge every column needs its part, those that are in too.
    const double kept = std::isfinite(root_.gamma) ? 1e-3 : 1.0;
    for (Index a = 0, b = 0; a < old.size(); ++a) {
        if (fix[a] < 0) continue;
        const double least = least_weight * (fix[a] > 0 ? kept : 1.0) / std::max(squares[b], 1e-300);
        weight[b] = least + (most > 0 ? weight[b] / most : 0.0);
        ++b;
    }
    return weight;
}

std::shared_ptr<Frame> LeastSquares::narrow(const Frame& old, const Fixes& fix, const VectorXd& v) const {
    const Index live = count_live(fix);
    const bool tighten = can_tighten(old, live);
    std::vector<Index> columns;
    VectorXd w(live), diagonal(live);
    for (Index a = 0, b = 0; a < old.size(); ++a)
        if (fix[a] >= 0) {
            columns.push_back(old.columns[static_cast<size_t>(a)]);
            w[b] = v[a] * old.scale[a];
            diagonal[b] = old.diagonal[a];
            ++b;
        }
    if (tighten) {
        const MatrixXd gram = root_.among(columns);
        const VectorXd weight = weights(old, fix, v, gram.diagonal());
        const VectorXd better = tightening(gram, weight, (old.diagonal.array() > 0).any() ? tight_steps : first_steps,
                                           root_.unit_for(live), root_.gamma, Alarm::never(), &diagonal);
        const bool usable = std::isfinite(root_.gamma) || (better.array() > 0).all();
        if (usable && weight.dot(better) > weight.dot(diagonal)) diagonal = better;
    }
    const bool some = (diagonal.array() > 0).any(), all = (diagonal.array() > 0).all();
    if (!(std::isfinite(root_.gamma) ? some : all)) diagonal.setZero();
    auto fresh = make_frame(root_, std::move(columns), w, diagonal);
    fresh->tightened = old.tightened || tighten;
    return fresh;
}

// ---- Near twins

const std::vector<std::pair<Index, Index>>& LeastSquares::near_twins() const {
    std::call_once(paired_, [&] {
        if (!root_.quadratic() || root_.size() > wide_frame) return;
        const ConstMatrix& gram = root_.quadratic()->gram;
        const VectorXd length = (gram.diagonal().array() + 1 / root_.gamma).sqrt();
        for (Index j = 0; j < gram.cols(); ++j)
            // Of equal columns the earlier goes first anyway.
            for (Index i = 0; i < j && twin_[static_cast<size_t>(j)] < 0; ++i)
                if (gram(i, j) != 0 && std::abs(gram(i, j)) >= (1 - twin_distance) * length[i] * length[j])
                    near_twins_.emplace_back(i, j);
    });
    return near_twins_;
}

Index LeastSquares::first_branch(const Frame& frame, const Fixes& fix) const {
    auto place = [&](Index column) {
        const auto found = std::lower_bound(frame.columns.begin(), frame.columns.end(), column);
        return found != frame.columns.end() && *found == column ? found - frame.columns.begin() : Index{-1};
    };
    for (const auto& [first, second] : near_twins()) {
        const Index a = place(first), b = place(second);
        if (a < 0 || b < 0 || fix[a] < 0 || fix[b] < 0) continue;
        if (fix[a] == 0) return a;
        if (fix[b] == 0) return b;
    }
    return -1;
}

// ---- Dependent columns

Index LeastSquares::dependent(const Frame& frame, const Fixes& fix) const {
    std::vector<Index> places, columns;
    for (Index a = 0; a < frame.size(); ++a) {
        if (fix[a] < 0) continue;
        const Index j = frame.columns[static_cast<size_t>(a)], earlier = twin_[static_cast<size_t>(j)];
        // One that repeats another: with it in, the other is in as well, and nothing is left to do.
        if (fix[a] == 0 && earlier >= 0 && std::binary_search(columns.begin(), columns.end(), earlier)) return a;
        places.push_back(a);
        columns.push_back(j);
    }
    const auto live = static_cast<Index>(columns.size());
    if (live > std::min(rank_, most_independent) || live < 2) return too_many;
    MatrixXd gram = root_.among(columns);
    const VectorXd squares = gram.diagonal();
    for (size_t a = 0; a < places.size(); ++a)
        if (fix[places[a]] == 0 && !(squares[static_cast<Index>(a)] > 0)) return places[a];
    const VectorXd inverse_norm = squares.cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
    gram = inverse_norm.asDiagonal() * gram * inverse_norm.asDiagonal();
    const Dependencies found = dependencies(gram);
    if (found.count > most_dependencies) return too_many;
    for (size_t a = 0; a < places.size(); ++a)
        if (fix[places[a]] == 0 && found.involved[a]) return places[a];
    return found.count > 0 || !can_tighten(frame, live) ? too_many : none;
}

bool LeastSquares::repeats(const Frame& frame, const Fixes& fix, Index position) const {
    std::vector<Index> in;
    for (Index a = 0; a < fix.size(); ++a)
        if (fix[a] > 0 && a != position) in.push_back(frame.columns[static_cast<size_t>(a)]);
    return data_.dependent(in, frame.columns[static_cast<size_t>(position)]);
}

// ---- Nodes

LeastSquaresSolver::LeastSquaresSolver(const LeastSquares& model, const Frame& frame, const Alarm& alarm)
    : model_(model),
      frame_(frame),
      alarm_(alarm),
      quadratic_(frame.problem(model.root())),
      relaxation_(quadratic_, alarm) {
    if (frame.held) priced_ = std::make_unique<PricedSolver>(*frame.held, frame.columns, alarm);
}

LocalSearch& LeastSquaresSolver::heuristic() {
    if (!heuristic_) heuristic_ = std::make_unique<LocalSearch>(survivors_, alarm_);
    return *heuristic_;
}

RelaxationResult LeastSquaresSolver::relax(const Fixes& fix, const VectorXd& start, const Aim& aim) {
    if (priced_) return priced_->relax(fix, start, aim);
    if (!focus_) return relaxation_.solve(fix, start, aim);
    int before = 0;
    const VectorXd better = focused_start(fix, start, aim, before);
    RelaxationResult r = relaxation_.solve(fix, better, aim, &start);
    r.solves += before;
    return r;
}

RelaxationResult LeastSquaresSolver::relax_on(const Fixes& fix, const Aim& aim) {
    if (priced_) return priced_->relax(fix, VectorXd(priced_->v()), aim);
    const VectorXd best = relaxation_.best_v();
    return relaxation_.solve(fix, VectorXd(relaxation_.v()), aim, &best);
}

void LeastSquaresSolver::write_point(std::vector<Index>& index, std::vector<double>& w) const {
    const VectorXd& v = priced_ ? priced_->best_v() : relaxation_.best_v();
    for (Index a = 0; a < v.size(); ++a)
        if (v[a] != 0) {
            index.push_back(frame_.columns[static_cast<size_t>(a)]);
            w.push_back(frame_.coefficient(a, v[a]));
        }
}

Index LeastSquaresSolver::fix_columns(Fixes& fix, double bound, double cutoff) {
    if (priced_) return priced_->fix_columns(fix, bound, cutoff);
    const VectorXd& beta = relaxation_.best_beta();
    const DualChoice choice = choose(beta, fix, quadratic_, scratch_);
    return parsifal::fix_columns(beta, bound, cutoff, choice, quadratic_, fix);
}

void LeastSquaresSolver::mend(const Fixes& fix, std::vector<Index>& support) {
    if (!frame_.rules || frame_.rules->rows.allow(support)) return;
    const VectorXd weight = s() + 1e-9 * v().cwiseAbs() / std::max(v().cwiseAbs().maxCoeff(), 1e-300);
    std::vector<Index> order;
    for (Index a = 0; a < weight.size(); ++a)
        if (fix[a] == 0 && weight[a] > 0) order.push_back(a);
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return weight[a] > weight[b]; });
    bool found = false;
    std::vector<Index> built = frame_.rules->rows.build(fix, order, model_.root().k, found);
    if (found) support = std::move(built);
}

// ---- Completions

const CorrelationTable& LeastSquares::correlations(const Alarm& alarm) const {
    std::call_once(sorted_, [&] {
        if (!root_.quadratic() && !products_) gather_products();
        const Quadratic& all = products_ ? products_->quadratic : *root_.quadratic();
        correlations_ = std::make_unique<CorrelationTable>(all, alarm);
    });
    return *correlations_;
}

// Completions need the products of all columns, where nodes have no use for them.
void LeastSquares::gather_products() const {
    std::vector<Index> all(static_cast<size_t>(root_.size()));
    std::iota(all.begin(), all.end(), Index{0});
    const VectorXd zero = VectorXd::Zero(root_.size());
    Surroundings here = root_.around(all, zero);
    products_ = std::make_unique<Products>(root_, root_.among(all), std::move(here));
}

LeastSquares::Products::Products(const Terms& terms, MatrixXd all, Surroundings here)
    : gram(std::move(all)),
      zero(VectorXd::Zero(gram.rows())),
      beta(std::move(here.beta)),
      quadratic{terms, gram, zero, beta, here.ls, std::move(here.rounding)} {}

Completions::Answer LeastSquaresSolver::complete(const Fixes& fix, double objective, const Gap& gap, double work) {
    if (!completions_) {
        // With thousands of columns the table takes a moment, too.
        const CorrelationTable* table = nullptr;
        try {
            table = &model_.correlations(alarm_);
        } catch (const TimeUp&) {
            return {};
        }
        completions_ = std::make_unique<Completions>(*table, alarm_, model_.data());
    }
    const auto& columns = frame_.columns;
    std::vector<Index> in, free;
    for (Index a = 0; a < fix.size(); ++a) {
        const Index j = columns[static_cast<size_t>(a)];
        if (fix[a] > 0) in.push_back(j);
        if (fix[a] != 0) continue;
        // Without a ridge a column adds nothing to its twin, which goes first.
        const Index earlier = model_.twin()[static_cast<size_t>(j)];
        if (earlier < 0 || std::isfinite(model_.root().gamma)) free.push_back(j);
    }
    Completions::Answer answer = completions_->close(in, free, model_.room(fix), objective, gap, work);
    for (auto* list : {&answer.branch, &answer.support})
        for (Index& j : *list) j = std::lower_bound(columns.begin(), columns.end(), j) - columns.begin();
    return answer;
}

// ---- Focus

void LeastSquaresSolver::unfocus() {
    focus_.reset();
    if (priced_) priced_->unfocus();
}

void LeastSquaresSolver::focus(const Fixes& fix, const VectorXd& v) {
    if (priced_) return priced_->focus(fix, v);
    focus_.reset();
    const Index m = quadratic_.size();
    if (m <= wide_frame) return;
    focus_ = std::make_unique<Focus>();
    quadratic_.gradient(v, focus_->beta);
    focus_->v = v;
    focus_->ls = quadratic_.least_squares(v, focus_->beta);
    const double least = in_focus * dual_threshold(focus_->beta, fix, quadratic_.room(fix), quadratic_, scratch_);
    for (Index a = 0; a < m; ++a)
        if (fix[a] > 0 || v[a] != 0 || (fix[a] == 0 && quadratic_.magnitude(a, focus_->beta[a]) >= least))
            focus_->columns.push_back(a);
    if (2 * static_cast<Index>(focus_->columns.size()) > m)
        focus_.reset();
    else
        gather_focus();
}

void LeastSquaresSolver::gather_focus() {
    Focus& f = *focus_;
    f.relaxation.reset();
    f.gram = quadratic_.gram(f.columns, f.columns);
    f.v0 = f.v(f.columns);
    f.beta0 = f.beta(f.columns);
    f.quadratic = std::make_unique<Quadratic>(Quadratic{quadratic_.take(f.columns), f.gram, f.v0, f.beta0, f.ls, {}});
    f.relaxation = std::make_unique<Relaxation>(*f.quadratic, alarm_);
}

VectorXd LeastSquaresSolver::focused_start(const Fixes& fix, const VectorXd& start, Aim aim, int& solves) {
    VectorXd lifted = start, beta;
    aim.slack *= 0.5;
    for (int pass = 0; pass < 3; ++pass) {
        Focus& f = *focus_;
        const Fixes fix_near = fix(f.columns);
        const VectorXd anchor = start(f.columns);
        const RelaxationResult r = f.relaxation->solve(fix_near, VectorXd(lifted(f.columns)), aim, &anchor);
        solves += r.solves;
        if (r.stop == Stop::cutoff) {
            // Part of the way from the parent's point to this one the bound may pass the cutoff on all columns.
            lifted.setZero();
            lifted(f.columns) = f.relaxation->best_v();
            quadratic_.gradient(lifted, beta);
            const Along along = best_along(quadratic_, fix, f.v, f.beta, VectorXd(lifted - f.v),
                                           VectorXd(beta - f.beta), aim.cutoff, pairs_);
            if (along.value > aim.cutoff) return f.v + along.t * (lifted - f.v);
        }
        lifted.setZero();
        lifted(f.columns) = f.relaxation->v();
        quadratic_.gradient(lifted, beta);
        const double least = (1 + 1e-6) * dual_threshold(VectorXd(beta(f.columns)), fix_near, quadratic_.room(fix_near),
                                                         *f.quadratic, scratch_);
        std::vector<Index> missing;
        for (Index a = 0; a < fix.size(); ++a)
            if (fix[a] == 0 && quadratic_.magnitude(a, beta[a]) > least) missing.push_back(a);
        std::vector<Index> wider;
        std::set_union(f.columns.begin(), f.columns.end(), missing.begin(), missing.end(), std::back_inserter(wider));
        if (wider.size() == f.columns.size() || 2 * static_cast<Index>(wider.size()) > fix.size()) break;
        f.columns = std::move(wider);
        gather_focus();
    }
    return lifted;
}

}  // namespace parsifal
