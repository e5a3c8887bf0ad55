// A frame: the columns that a subtree still has to decide, as a small problem of their own.
//
// Nodes share the frame of an ancestor until enough columns have been fixed out; then a new, smaller frame is gathered
// from the root's Gram matrix around the node's own point, and tightened if the root could not be and this can.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "quadratic.hpp"

namespace parsifal {

using Fixes = Eigen::Matrix<signed char, Eigen::Dynamic, 1>;

struct Frame {
    Frame() = default;
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;
    ~Frame() {
        if (account) *account -= bytes();
    }

    std::vector<Index> columns;  // positions in the root's problem
    VectorXd diagonal;           // tightening, zero if none
    VectorXd scale;              // w = scale * v
    MatrixXd gram;               // tightened; empty where the root's own serves
    const ConstMatrix* whole = nullptr;
    VectorXd v0, beta0;
    double ls0 = 0;
    Rounding rounding;
    bool tightened = false;  // whether a diagonal has been looked for
    int id = 0;
    std::atomic<std::int64_t>* account = nullptr;  // where its bytes are counted while it lives

    Quadratic problem(double gamma, double lambda, Index k) const {
        if (whole) return {*whole, v0, beta0, ls0, gamma, lambda, k, rounding};
        return {gram, v0, beta0, ls0, gamma, lambda, k, rounding};
    }
    std::int64_t bytes() const { return 8 * (gram.size() + 6 * static_cast<std::int64_t>(columns.size())); }
    Index size() const { return static_cast<Index>(columns.size()); }
};

// Gathers `columns` of the root problem around the point w (given on those columns), with a diagonal (on those
// columns). Must not outlive the root, whose matrix it uses where that is the frame's own.
std::shared_ptr<Frame> make_frame(const Quadratic& root, std::vector<Index> columns, const ConstVector& w,
                                  const ConstVector& diagonal);

}  // namespace parsifal
