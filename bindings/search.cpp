#include "search.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <exception>

#include "bindings.hpp"
#include "make_rounding.hpp"
#include "ragged.hpp"
#include "state.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace parsifal;

void bind_search(nb::module_& m) {
    m.def(
        "search",
        [](Eigen::Ref<const MatrixXd> gram, Eigen::Ref<const VectorXd> v0, Eigen::Ref<const VectorXd> beta0, double ls0,
           double gamma, double penalty, Index k, ConstFix fix, Eigen::Ref<const VectorXd> w,
           Eigen::Ref<const VectorXd> diagonal, std::vector<Index> twin, double objective, double rel_gap,
           double abs_gap, double time_limit, double node_limit, int threads, int branching, double memory_limit,
           double certificate_limit, Index rank, nb::object poll, nb::object state, nb::object save, double save_every,
           Eigen::Ref<const VectorXd> norm, const std::array<double, 5>& rounding) {
            const Quadratic root{gram, v0, beta0, ls0, gamma, penalty, k, make_rounding(norm, rounding)};
            SearchOptions options;
            options.rel_gap = rel_gap;
            options.abs_gap = abs_gap;
            options.time_limit = time_limit;
            options.node_limit = node_limit;
            options.threads = threads;
            options.branching = static_cast<Branching>(branching);
            options.memory_limit = memory_limit;
            options.certificate_limit = certificate_limit;
            options.rank = rank;
            options.save_every = save_every;
            TreeState before;
            if (!state.is_none()) before = from_dict(nb::cast<nb::dict>(state), root.size());
            SearchResult r;
            std::exception_ptr raised;
            {
                nb::gil_scoped_release release;
                const auto listen = [&](const SearchState& s) {
                    nb::gil_scoped_acquire acquire;
                    try {
                        if (PyErr_CheckSignals() != 0) nb::raise_python_error();
                        if (!poll.is_none()) poll(s.objective, s.lower_bound, s.nodes, s.open, s.seconds);
                    } catch (nb::python_error& error) {
                        // Ctrl-C: the caller gets the best so far. Anything else is the caller's own, and goes on.
                        if (!error.matches(PyExc_KeyboardInterrupt)) raised = std::make_exception_ptr(error);
                        return true;
                    }
                    return false;
                };
                std::function<void(const TreeState&)> keep;
                if (!save.is_none())
                    keep = [&](const TreeState& now) {
                        nb::gil_scoped_acquire acquire;
                        save(to_dict(now));
                    };
                r = search(root, fix, w, diagonal, twin, objective, options, listen,
                           state.is_none() ? nullptr : &before, keep);
            }
            if (raised) std::rethrow_exception(raised);
            nb::dict d;
            const char* names[] = {"optimal", "time_limit", "node_limit", "interrupted"};
            d["stop"] = names[static_cast<int>(r.stop)];
            d["objective"] = r.objective;
            d["lower_bound"] = r.lower_bound;
            d["support"] = r.support;
            d["improved"] = r.improved;
            d["nodes"] = static_cast<int64_t>(r.nodes);
            d["solves"] = static_cast<int64_t>(r.solves);
            d["frames"] = static_cast<int64_t>(r.frames);
            d["depth"] = static_cast<int64_t>(r.depth);
            d["seconds"] = r.seconds;
            d["complete"] = r.certificate_complete;
            if (r.certificate_complete) {
                const auto& records = r.records;
                d["parent"] = column<int64_t>(records, [](const Record& x) { return x.parent; });
                d["column"] = column<int64_t>(records, [](const Record& x) { return x.column; });
                d["side"] = column<signed char>(records, [](const Record& x) { return x.side; });
                d["frame"] = column<int64_t>(records, [](const Record& x) { return x.frame; });
                d["bound"] = column<double>(records, [](const Record& x) { return x.bound; });
                d["index"] = ragged<int64_t>(records, [](const Record& x) -> const auto& { return x.index; });
                d["coef"] = ragged<double>(records, [](const Record& x) -> const auto& { return x.w; });
                d["fixed"] = ragged<int64_t>(records, [](const Record& x) -> const auto& { return x.fixed; });
                nb::list frames;
                for (const FrameRecord& f : r.frame_records) frames.append(nb::make_tuple(f.columns, f.diagonal));
                d["frames_list"] = frames;
            }
            return d;
        },
        "gram"_a, "v0"_a, "beta0"_a, "ls0"_a, "gamma"_a, "penalty"_a, "k"_a, "fix"_a, "w"_a, "diagonal"_a, "twin"_a,
        "objective"_a, "rel_gap"_a, "abs_gap"_a, "time_limit"_a, "node_limit"_a, "threads"_a, "branching"_a,
        "memory_limit"_a, "certificate_limit"_a, "rank"_a, "poll"_a.none(), "state"_a.none(), "save"_a.none(),
        "save_every"_a, "norm"_a, "rounding"_a, "Branch and bound on the reduced problem.");
}
