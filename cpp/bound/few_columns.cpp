#include "bound/few_columns.hpp"

#include <algorithm>
#include <cmath>

#include "base/alarm.hpp"
#include "bound/completions.hpp"
#include "bound/fit.hpp"
#include "bound/swap.hpp"
#include "read/gram.hpp"

namespace parsifal {

namespace {

// Norms between these have squares, and squares of products, with room to spare.
constexpr double shortest = 1e-60, longest = 1e60;
// 1 - the cosine of columns that may be each other's copies: of these the long way makes twins.
constexpr double copies = 1e-11;
// Multiplications, about: some hundredths of a second.
constexpr double most_work = 5e7;
constexpr int most_moves = 10'000;

bool usual(double norm) { return norm > shortest && norm < longest; }

}  // namespace

FewColumns::FewColumns(const Eigen::Map<const MatrixXd>& columns, const Eigen::Map<const VectorXd>& y)
    : y_square_(y.squaredNorm()), product_(columns.transpose() * y), zero_(VectorXd::Zero(columns.cols())) {
    new (&data_.columns) Eigen::Map<const MatrixXd>(columns);
    new (&data_.y) Eigen::Map<const VectorXd>(y);
    gram_ = parsifal::gram(columns, columns, Team{1, Alarm::never()});
    if (!gram_.allFinite() || !product_.allFinite() || !usual(std::sqrt(y_square_))) return;
    const VectorXd norms = gram_.diagonal().cwiseSqrt();
    for (Index j = 0; j < norms.size(); ++j) {
        if (!usual(norms[j])) return;
        for (Index i = 0; i < j; ++i)
            if (std::abs(gram_(i, j)) >= norms[i] * norms[j] * (1 - copies)) return;
    }
    rounding_ = Rounding::at_response(norms, columns.rows(), std::sqrt(y_square_));
    plain_ = true;
}

double FewColumns::residual_square(const std::vector<Index>& support, const ConstVector& w) const {
    VectorXd residual = data_.y;
    for (size_t a = 0; a < support.size(); ++a)
        residual.noalias() -= w[static_cast<Index>(a)] * data_.columns.col(support[a]);
    return residual.squaredNorm();
}

// Fits a support and keeps it if it is better; false if the fit is not plain sailing.
bool FewColumns::offer(const Terms& terms, std::vector<Index> support, Answer& best) const {
    std::sort(support.begin(), support.end());
    FitValue found{0.5 * y_square_, true};
    VectorXd w;
    if (!support.empty()) {
        const MatrixXd columns = data_.columns(Eigen::all, support);
        w = fit_columns(columns, data_.y, terms.gamma);
        if (w.size() == 0) return false;
        found = fit_value(columns, data_.y, w, terms.gamma);
    }
    if (!found.usual) return false;
    const double objective = found.value + terms.price_of(support);
    if (objective < best.objective) {
        best.objective = objective;
        best.support = std::move(support);
        best.w = std::move(w);
    }
    return true;
}

auto FewColumns::solve(const Terms& terms, const ConstFix& fix, const std::vector<std::vector<Index>>& starts,
                       double known, const Gap& gap, double seconds) const -> Answer {
    if (!plain_) return {};
    const Quadratic quadratic{terms, gram_, zero_, product_, 0.5 * y_square_, rounding_};
    const GramSurvivors survivors(quadratic);
    // The caller listens for Ctrl-C: it is over in a moment.
    const Alarm alarm(seconds, [] {});
    std::vector<Index> in, free;
    for (Index j = 0; j < fix.size(); ++j) {
        if (fix[j] > 0) in.push_back(j);
        if (fix[j] == 0) free.push_back(j);
    }
    LocalSearch search(survivors, alarm);
    std::vector<Index> support = in;
    double value = INFINITY;
    // Where there is something to begin with, greedy would not find more: the sets are gone through anyway.
    if (starts.empty()) {
        search.greedy(fix, support);
        value = search.improve(fix, support, most_moves);
    }
    for (std::vector<Index> start : starts) {
        const double reached = search.improve(fix, start, most_moves);
        if (!(reached < value)) continue;
        value = reached;
        support = std::move(start);
    }
    Answer best;
    best.objective = known;
    if (!offer(terms, support, best)) return {};
    const CorrelationTable table(quadratic, alarm);
    Data data = data_;
    data.ridge = 1 / terms.gamma;
    const Completions::Answer sets =
        Completions(table, alarm, data).close(in, free, terms.room(fix), best.objective, gap, most_work);
    if (!sets.closed || !sets.resolved || sets.bound < gap.cutoff(std::min(best.objective, sets.value))) return {};
    if (!sets.support.empty() && !offer(terms, sets.support, best)) return {};
    best.lower_bound = sets.bound;
    best.settled = true;
    return best;
}

}  // namespace parsifal
