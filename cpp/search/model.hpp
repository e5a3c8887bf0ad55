// What the tree search asks of a model. The search branches, prunes, dives and records; everything that knows the loss
// and its terms is behind these three types, resolved at compile time. Another loss is another model, in a file of its
// own (least_squares.hpp, group_squares.hpp).
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/alarm.hpp"
#include "bound/aim.hpp"
#include "bound/completions.hpp"
#include "bound/quadratic.hpp"

namespace parsifal {

// What a frame is gathered from, and saved as.
struct FrameState {
    std::vector<Index> columns;  // positions in the root's problem, ascending
    VectorXd diagonal, w;        // tightening, and the point that the frame is gathered around
    bool tightened = false;      // whether a diagonal has been looked for
    int id = 0;
};

// What the certificate says of a frame.
struct FrameRecord {
    std::vector<Index> columns;
    VectorXd diagonal;
};

// The part of a frame that the tree uses itself. A frame is the subproblem of a subtree: the columns that it has still
// to decide. Nodes share the frame of an ancestor until enough columns have been fixed out.
struct FrameBase {
    FrameBase() = default;
    FrameBase(const FrameBase&) = delete;
    FrameBase& operator=(const FrameBase&) = delete;
    ~FrameBase() {
        if (account) *account -= counted;
    }

    std::vector<Index> columns;  // positions in the root's problem, ascending
    int id = 0;
    std::atomic<std::int64_t>* account = nullptr;  // where its bytes are counted while it lives
    std::int64_t counted = 0;

    Index size() const { return static_cast<Index>(columns.size()); }
};

template <class F>
concept NodeFrame = std::derived_from<F, FrameBase> && requires(const F& frame) {
    { frame.bytes() } -> std::convertible_to<std::int64_t>;
    { frame.start() } -> std::convertible_to<const VectorXd&>;  // the point that it was gathered around
};

// A worker's means to solve the nodes of one frame. It keeps its workspace, and the points of the last relaxation.
template <class S>
concept NodeSolver =
    requires(S& solver, const S& solved, const Fixes& fix, Fixes& fixed, const VectorXd& v, const Aim& aim,
             double bound, double cutoff, std::vector<Index>& support, std::vector<double>& w) {
        // A bound on every completion of the fixes, from the point v; and once more from where the last one ended.
        { solver.relax(fix, v, aim) } -> std::same_as<RelaxationResult>;
        { solver.relax_on(fix, aim) } -> std::same_as<RelaxationResult>;
        { solved.v() } -> std::same_as<const VectorXd&>;  // the last point, and how far each column is in
        { solved.s() } -> std::same_as<const VectorXd&>;
        solved.write_point(support, w);  // appends the point of the bound: where it is not zero, in the root's units
        // Safe fixing by the last relaxation, whose bound is given: how many columns, -1 if nothing can be better.
        { solver.fix_columns(fixed, bound, cutoff) } -> std::same_as<Index>;
        // The value of a support, as it is and after moves that improve it.
        { solver.value_of(support) } -> std::same_as<double>;
        { solver.improve(fix, support, 50) } -> std::same_as<double>;
        // Before and after the children of the node with these fixes and this point are relaxed.
        solver.focus(fix, v);
        solver.unfocus();
    };

// A solver that can also go through a node's completions. `relaxes`: whether its frame has a relaxation at all;
// `complete` answers with positions of the frame.
template <class S>
concept CompletingSolver = NodeSolver<S> && requires(S& solver, const S& solved, const Fixes& fix, double objective,
                                                     const Gap& gap, double work) {
    { solved.relaxes() } -> std::same_as<bool>;
    { solver.complete(fix, objective, gap, work) } -> std::same_as<Completions::Answer>;
};

template <class M>
concept NodeModel = NodeFrame<typename M::Frame> && NodeSolver<typename M::Solver> &&
                    std::constructible_from<typename M::Solver, const M&, const typename M::Frame&, const Alarm&> &&
                    requires(const M& model, const typename M::Frame& frame, const FrameState& state, const Fixes& fix,
                             const VectorXd& v) {
                        { model.size() } -> std::same_as<Index>;  // columns
                        {
                            model.room(fix)
                        } -> std::same_as<Index>;  // how many more may be chosen; negative: too many are in
                        { model.gather(state) } -> std::same_as<std::shared_ptr<typename M::Frame>>;
                        { model.save(frame) } -> std::same_as<FrameState>;
                        { model.record(frame) } -> std::same_as<FrameRecord>;
                        // A smaller frame for a node with these fixes, on the columns that are not out, around its
                        // point v.
                        { model.worth_narrowing(frame, fix) } -> std::same_as<bool>;
                        { model.narrow(frame, fix, v) } -> std::same_as<std::shared_ptr<typename M::Frame>>;
                    };

}  // namespace parsifal
