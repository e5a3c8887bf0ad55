#include "state.hpp"

#include <algorithm>

#include "ragged.hpp"

namespace nb = nanobind;
using namespace parsifal;

namespace {

// Every field once, for both directions: visit.number<T>(name, items, get) and visit.list<T>(name, items, get) have one
// entry an item, visit.vector<T>(name, values) and visit.scalar(name, value) are there once.
template <class State, class Visit>
void fields(State& s, Visit&& visit) {
    using I = int64_t;
    visit.template list<I>("frame_columns", s.frames, [](auto& f) -> auto& { return f.columns; });
    visit.template list<double>("frame_diagonal", s.frames, [](auto& f) -> auto& { return f.diagonal; });
    visit.template list<double>("frame_w", s.frames, [](auto& f) -> auto& { return f.w; });
    visit.template number<I>("frame_tightened", s.frames, [](auto& f) -> auto& { return f.tightened; });
    visit.template number<I>("frame_id", s.frames, [](auto& f) -> auto& { return f.id; });
    visit.template number<I>("node_frame", s.nodes, [](auto& n) -> auto& { return n.frame; });
    visit.template list<signed char>("node_fix", s.nodes, [](auto& n) -> auto& { return n.fix; });
    visit.template list<I>("node_index", s.nodes, [](auto& n) -> auto& { return n.index; });
    visit.template list<double>("node_v", s.nodes, [](auto& n) -> auto& { return n.v; });
    visit.template number<double>("node_bound", s.nodes, [](auto& n) -> auto& { return n.bound; });
    visit.template number<I>("node_depth", s.nodes, [](auto& n) -> auto& { return n.depth; });
    visit.template number<I>("node_record", s.nodes, [](auto& n) -> auto& { return n.record; });
    visit.template list<I>("candidate", s.nodes, [](auto& n) -> auto& { return n.candidate; });
    visit.template list<double>("candidate_fraction", s.nodes, [](auto& n) -> auto& { return n.fraction; });
    visit.template list<double>("candidate_v", s.nodes, [](auto& n) -> auto& { return n.candidate_v; });
    visit.template list<I>("node_branch", s.nodes, [](auto& n) -> auto& { return n.branch; });
    visit.template number<I>("record_parent", s.records, [](auto& r) -> auto& { return r.parent; });
    visit.template number<I>("record_column", s.records, [](auto& r) -> auto& { return r.column; });
    visit.template number<signed char>("record_side", s.records, [](auto& r) -> auto& { return r.side; });
    visit.template number<I>("record_frame", s.records, [](auto& r) -> auto& { return r.frame; });
    visit.template number<double>("record_bound", s.records, [](auto& r) -> auto& { return r.bound; });
    visit.template list<I>("record_index", s.records, [](auto& r) -> auto& { return r.index; });
    visit.template list<double>("record_w", s.records, [](auto& r) -> auto& { return r.w; });
    visit.template list<I>("record_fixed", s.records, [](auto& r) -> auto& { return r.fixed; });
    visit.template number<I>("record_kind", s.records, [](auto& r) -> auto& { return r.kind; });
    visit.template list<I>("proof_frame_columns", s.frame_records, [](auto& f) -> auto& { return f.columns; });
    visit.template list<double>("proof_frame_diagonal", s.frame_records, [](auto& f) -> auto& { return f.diagonal; });
    visit.template vector<double>("pseudo_in", s.pseudo_costs.in);
    visit.template vector<double>("pseudo_out", s.pseudo_costs.out);
    visit.template vector<double>("pseudo_count", s.pseudo_costs.count);
    visit.scalar("pseudo_sum_in", s.pseudo_costs.sum_in);
    visit.scalar("pseudo_sum_out", s.pseudo_costs.sum_out);
    visit.scalar("pseudo_total", s.pseudo_costs.total);
    visit.template vector<I>("support", s.support);
    visit.scalar("objective", s.objective);
    visit.scalar("improved", s.improved);
    visit.scalar("pruned", s.pruned);
    visit.scalar("nodes_seen", s.nodes_seen);
    visit.scalar("solves", s.solves);
    visit.scalar("frames_made", s.frames_made);
    visit.scalar("depth", s.depth);
    visit.scalar("records_dropped", s.records_dropped);
}

struct Write {
    nb::dict& d;

    template <class T, class Items, class Get>
    void number(const char* name, Items& items, Get get) {
        d[name] = column<T>(items, get);
    }
    template <class T, class Items, class Get>
    void list(const char* name, Items& items, Get get) {
        d[name] = ragged<T>(items, get);
    }
    template <class T, class Values>
    void vector(const char* name, const Values& values) {
        Array<T> out(static_cast<Index>(values.size()));
        std::copy(values.begin(), values.end(), out.begin());
        d[name] = out;
    }
    template <class T>
    void scalar(const char* name, T value) {
        d[name] = value;
    }
};

struct Read {
    const nb::dict& d;

    template <class T, class Items, class Get>
    void number(const char* name, Items& items, Get get) {
        fill_column<T>(d, name, items, get);
    }
    template <class T, class Items, class Get>
    void list(const char* name, Items& items, Get get) {
        fill_ragged<T>(d, name, items, get);
    }
    template <class T, class Values>
    void vector(const char* name, Values& values) {
        const Array<T> from = array_from<T>(d, name);
        values.resize(static_cast<size_t>(from.size()));
        std::copy(from.begin(), from.end(), values.begin());
    }
    // A number of Python's, or an array of NumPy's without dimensions.
    template <class T>
    void scalar(const char* name, T& value) {
        require(d.contains(name));
        const nb::object number = nb::steal(PyNumber_Float(nb::object(d[name]).ptr()));
        if (!number.is_valid()) PyErr_Clear();
        require(number.is_valid());
        value = static_cast<T>(PyFloat_AsDouble(number.ptr()));
    }
};

// What the search would otherwise index with, unseen.
void check(const TreeState& s, Index columns) {
    const auto records = static_cast<int64_t>(s.records.size());
    for (const FrameState& f : s.frames) {
        const auto m = static_cast<Index>(f.columns.size());
        require(f.diagonal.size() == m && f.w.size() == m);
        Index last = -1;
        for (const Index j : f.columns) {
            require(j > last && j < columns);
            last = j;
        }
    }
    for (const NodeState& n : s.nodes) {
        require(n.frame >= 0 && n.frame < static_cast<Index>(s.frames.size()));
        const auto m = static_cast<Index>(s.frames[static_cast<size_t>(n.frame)].columns.size());
        require(static_cast<Index>(n.fix.size()) == m && n.index.size() == n.v.size());
        require(n.candidate.size() == n.fraction.size() && n.candidate.size() == n.candidate_v.size());
        require(n.record < records);
        for (const Index a : n.branch) require(a >= 0 && a < m);
        for (const Index a : n.index) require(a >= 0 && a < m);
        for (const Index a : n.candidate) require(a >= 0 && a < m);
    }
    const SeenGains& seen = s.pseudo_costs;
    require(seen.out.size() == seen.in.size() && seen.count.size() == seen.in.size());
    for (const Index j : s.support) require(j >= 0 && j < columns);
}

}  // namespace

nb::dict to_dict(const TreeState& state) {
    nb::dict d;
    fields(state, Write{d});
    return d;
}

TreeState from_dict(const nb::dict& d, Index columns) {
    TreeState s;
    // The number of items of each list, from a field that has one number an item.
    s.frames.resize(static_cast<size_t>(array_from<int64_t>(d, "frame_id").size()));
    s.nodes.resize(static_cast<size_t>(array_from<double>(d, "node_bound").size()));
    s.records.resize(static_cast<size_t>(array_from<double>(d, "record_bound").size()));
    require(d.contains("proof_frame_columns"));
    const nb::object frame_offsets = nb::cast<nb::tuple>(d["proof_frame_columns"])[0];
    const Array<int64_t> offsets = array_from<int64_t>(frame_offsets);
    require(offsets.size() > 0);
    s.frame_records.resize(static_cast<size_t>(offsets.size()) - 1);
    fields(s, Read{d});
    check(s, columns);
    return s;
}
