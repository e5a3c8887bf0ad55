// The frame of least squares: the columns that a subtree still has to decide, as a small quadratic problem of their
// own, gathered from the survivors around a point, and tightened where a diagonal is given.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "bound/survivors.hpp"
#include "search/model.hpp"

namespace parsifal {

// Frames of more columns than this are solved on few of them at a time.
constexpr Index wide_frame = 300;

struct Frame : FrameBase {
    VectorXd diagonal;  // tightening, zero if none
    VectorXd scale;     // w = scale * v
    MatrixXd gram;      // tightened; empty where the root's own serves
    const ConstMatrix* whole = nullptr;
    const HeldColumns* held = nullptr;  // the columns themselves, of a frame so wide that it has no matrix
    VectorXd v0, beta0;
    double ls0 = 0;
    double gamma = INFINITY;  // of the frame's problem; infinite: without a ridge, and no relaxation says anything
    Rounding rounding;
    std::shared_ptr<const ColumnRules> rules;  // on the frame's columns; null: columns are all alike
    bool tightened = false;                    // whether a diagonal has been looked for

    // The problem on the frame's columns; of none, if it has no matrix.
    Quadratic problem(const Terms& terms) const {
        Terms own = terms;
        own.gamma = gamma;
        own.rules = rules;
        static const VectorXd none;
        if (held) return {own, gram, none, none, 0.0, {}};
        if (whole) return {own, *whole, v0, beta0, ls0, rounding};
        return {own, gram, v0, beta0, ls0, rounding};
    }
    bool relaxes() const { return std::isfinite(gamma); }
    std::int64_t bytes() const { return 8 * (gram.size() + 6 * static_cast<std::int64_t>(columns.size())); }
    const VectorXd& start() const { return v0; }
    double coefficient(Index position, double v) const { return v * scale[position]; }
};

// Gathers `columns` of the survivors around the point w (given on those columns), with a diagonal (on those
// columns). A wide one of held columns gets no matrix. Must not outlive the root, whose matrix it uses where that is
// the frame's own.
std::shared_ptr<Frame> make_frame(const Survivors& root, std::vector<Index> columns, const ConstVector& w,
                                  const ConstVector& diagonal);

}  // namespace parsifal
