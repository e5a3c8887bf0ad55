#include "search/least_squares.hpp"

#include <Eigen/QR>
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

// Where the root could be tightened, doing so again for fewer columns takes more time than it saves
// (docs/decisions.md); where it could not, the first chance is taken.
bool LeastSquares::first_chance(const Frame& frame, Index live) const {
    return !frame.tightened && live < rank_ && live <= tighten_at_most_ && live > 1;
}

bool LeastSquares::worth_narrowing(const Frame& frame, const Fixes& fix) const {
    const Index live = count_live(fix);
    const double worth = frame.size() > wide_frame ? wide_shrink : narrow_shrink;
    return first_chance(frame, live) || !(static_cast<double>(live) > worth * static_cast<double>(frame.size()));
}

std::shared_ptr<Frame> LeastSquares::narrow(const Frame& old, const Fixes& fix, const VectorXd& v) const {
    const Index live = count_live(fix);
    const bool first = first_chance(old, live);
    std::vector<Index> columns;
    VectorXd w(live), diagonal(live);
    for (Index a = 0, b = 0; a < old.size(); ++a)
        if (fix[a] >= 0) {
            columns.push_back(old.columns[static_cast<size_t>(a)]);
            w[b] = v[a] * old.scale[a];
            diagonal[b] = old.diagonal[a];
            ++b;
        }
    if (first) {
        const MatrixXd gram = root_.among(columns);
        const VectorXd weight = gram.diagonal().cwiseMax(1e-300).cwiseInverse();
        const VectorXd better = tightening(gram, weight, 25, root_.unit_for(live), root_.gamma);
        if (weight.dot(better) > weight.dot(diagonal)) diagonal = better;
    }
    const bool some = (diagonal.array() > 0).any(), all = (diagonal.array() > 0).all();
    if (!(std::isfinite(root_.gamma) ? some : all)) diagonal.setZero();
    auto fresh = make_frame(root_, std::move(columns), w, diagonal);
    fresh->tightened = old.tightened || first;
    return fresh;
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

bool LeastSquares::dependent(const std::vector<Index>& in, Index j) const {
    if (columns_.size() == 0) return false;
    const double norm = columns_.col(j).norm();
    if (!(norm > 0)) return true;
    if (in.empty()) return false;
    MatrixXd others = columns_(Eigen::all, in);
    for (Index a = 0; a < others.cols(); ++a) others.col(a) /= std::max(others.col(a).norm(), 1e-300);
    const VectorXd column = columns_.col(j) / norm;
    const VectorXd u = others.colPivHouseholderQr().solve(column);
    // Any u gives an upper bound to the distance.
    const double rounding = 2 * root_.unit_for(others.cols()) * (1 + u.lpNorm<1>());
    return (column - others * u).norm() + rounding < CorrelationTable::independence;
}

Completions::Answer LeastSquaresSolver::complete(const Fixes& fix, double objective, const Gap& gap, double work) {
    if (!completions_) {
        // With thousands of columns the table takes a moment, too.
        const CorrelationTable* table = nullptr;
        try {
            table = &model_.correlations(alarm_);
        } catch (const TimeUp&) {
            return {};
        }
        completions_ = std::make_unique<Completions>(
            *table, alarm_, [this](const std::vector<Index>& in, Index j) { return model_.dependent(in, j); });
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
