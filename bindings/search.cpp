#include "search/search.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <optional>

#include "bindings.hpp"
#include "groups.hpp"
#include "quadratic.hpp"
#include "ragged.hpp"
#include "state.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace parsifal;

namespace {

const char* name(SearchStop stop) {
    switch (stop) {
        case SearchStop::optimal:
            return "optimal";
        case SearchStop::time_limit:
            return "time_limit";
        case SearchStop::node_limit:
            return "node_limit";
        default:
            return "interrupted";
    }
}

nb::dict result_dict(const SearchResult& r) {
    nb::dict d;
    d["stop"] = name(r.stop);
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
    if (!r.certificate_complete) return d;
    const auto& records = r.records;
    d["parent"] = column<int64_t>(records, [](const Record& x) { return x.parent; });
    d["column"] = column<int64_t>(records, [](const Record& x) { return x.column; });
    d["side"] = column<signed char>(records, [](const Record& x) { return x.side; });
    d["frame"] = column<int64_t>(records, [](const Record& x) { return x.frame; });
    d["kind"] = column<int64_t>(records, [](const Record& x) { return static_cast<int64_t>(x.kind); });
    d["bound"] = column<double>(records, [](const Record& x) { return x.bound; });
    d["index"] = ragged<int64_t>(records, [](const Record& x) -> const auto& { return x.index; });
    d["coef"] = ragged<double>(records, [](const Record& x) -> const auto& { return x.w; });
    d["fixed"] = ragged<int64_t>(records, [](const Record& x) -> const auto& { return x.fixed; });
    nb::list frames;
    for (const FrameRecord& f : r.frame_records) frames.append(nb::make_tuple(f.columns, f.diagonal));
    d["frames_list"] = frames;
    return d;
}

// Asks for Ctrl-C and calls the caller's own `poll`; true stops the search.
struct Listener {
    const nb::object& poll;
    std::exception_ptr raised;

    bool operator()(const SearchState& s) {
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
    }
};

nb::dict run(const Held& q, ConstFix fix, ConstVector w, ConstVector diagonal, const std::vector<Index>& twin,
             double objective, const SearchOptions& options, const nb::object& poll, const nb::object& state,
             const nb::object& save, const std::optional<Matrix<double>>& columns,
             const std::optional<DoubleVector>& y) {
    require_columns(fix, q, "fix");
    require_columns(w, q, "w");
    require_columns(diagonal, q, "diagonal");
    require_columns(twin, q, "twin");
    Data data;
    if (columns && y) {
        const auto n = static_cast<Index>(columns->shape(0)), m = static_cast<Index>(columns->shape(1));
        if (m != q.survivors().size()) throw std::invalid_argument("columns must be those of the problem");
        if (static_cast<Index>(y->size()) != n) throw std::invalid_argument("y must have one entry a row");
        new (&data.columns) Eigen::Map<const MatrixXd>(columns->data(), n, m);
        new (&data.y) Eigen::Map<const VectorXd>(y->data(), n);
        data.ridge = 1 / q.survivors().gamma;
    }
    TreeState before;
    if (!state.is_none()) before = from_dict(nb::cast<nb::dict>(state), q.survivors().size());
    SearchResult r;
    Listener listener{poll, nullptr};
    {
        nb::gil_scoped_release release;
        SearchCalls calls{.poll = std::ref(listener), .state = state.is_none() ? nullptr : &before};
        if (!save.is_none())
            calls.save = [&](const TreeState& now) {
                nb::gil_scoped_acquire acquire;
                save(to_dict(now));
            };
        r = search(q.survivors(), fix, w, diagonal, twin, objective, options, calls, data);
    }
    if (listener.raised) std::rethrow_exception(listener.raised);
    return result_dict(r);
}

nb::dict run_groups(const HeldQuadratic& q, const Groups& groups, ConstFix fix, ConstVector s, ConstVector diagonal,
                    double objective, const SearchOptions& options, const nb::object& poll) {
    require_groups(groups, q);
    require_one_a_group(fix, groups, "fix");
    require_one_a_group(s, groups, "s");
    require_columns(diagonal, q, "diagonal");
    SearchResult r;
    Listener listener{poll, nullptr};
    {
        nb::gil_scoped_release release;
        r = search_groups(q.problem, groups, fix, s, diagonal, objective, options, std::ref(listener));
    }
    if (listener.raised) std::rethrow_exception(listener.raised);
    return result_dict(r);
}

void construct_options(SearchOptions* self, double rel_gap, double abs_gap, double time_limit, double node_limit,
                       int threads, bool at_once, bool here, Branching branching, double memory_limit,
                       double certificate_limit, double save_every, Index rank, Index tighten_at_most, double dive,
                       bool completions, double exhaust_work) {
    if (threads < 1) throw std::invalid_argument("a search needs a thread");
    new (self) SearchOptions{.gap = {.relative = rel_gap, .absolute = abs_gap},
                             .time_limit = time_limit,
                             .node_limit = node_limit,
                             .threads = threads,
                             .at_once = at_once,
                             .here = here,
                             .branching = branching,
                             .memory_limit = memory_limit,
                             .certificate_limit = certificate_limit,
                             .save_every = save_every,
                             .rank = rank,
                             .tighten_at_most = tighten_at_most,
                             .dive = dive,
                             .completions = completions,
                             .exhaust_work = exhaust_work};
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::enum_<Branching>(m, "Branching", "Which fractional column a node is split on.")
        .value("largest", Branching::largest)
        .value("fractional", Branching::fractional)
        .value("strong", Branching::strong)
        .value("pseudo", Branching::pseudo);

    const SearchOptions usual;
    nb::class_<SearchOptions>(m, "SearchOptions", "Tolerances and limits of a search (cpp/search/search.hpp).")
        .def("__init__", &construct_options, nb::kw_only(), "rel_gap"_a = usual.gap.relative,
             "abs_gap"_a = usual.gap.absolute, "time_limit"_a = usual.time_limit, "node_limit"_a = usual.node_limit,
             "threads"_a = usual.threads, "at_once"_a = usual.at_once, "here"_a = usual.here,
             "branching"_a = usual.branching, "memory_limit"_a = usual.memory_limit,
             "certificate_limit"_a = usual.certificate_limit, "save_every"_a = usual.save_every, "rank"_a = usual.rank,
             "tighten_at_most"_a = usual.tighten_at_most, "dive"_a = usual.dive, "completions"_a = usual.completions,
             "exhaust_work"_a = usual.exhaust_work);

    m.def("search", &run, "survivors"_a, nb::kw_only(), "fix"_a, "w"_a, "diagonal"_a, "twin"_a, "objective"_a,
          "options"_a, "poll"_a = nb::none(), "state"_a = nb::none(), "save"_a = nb::none(), "columns"_a = nb::none(),
          "y"_a = nb::none(), "Branch and bound on the reduced problem.");
    m.def("search_groups", &run_groups, "quadratic"_a, "groups"_a, nb::kw_only(), "fix"_a, "s"_a, "diagonal"_a,
          "objective"_a, "options"_a, "poll"_a = nb::none(), "Branch and bound over groups of columns.");
}
