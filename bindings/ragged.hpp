// Lists of structs as arrays: what an .npz can hold without pickle.
#pragma once

#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bound/quadratic.hpp"

namespace parsifal {

template <class T>
using Array = Eigen::Matrix<T, Eigen::Dynamic, 1>;

// One vector per item, as (offsets, values).
template <class T, class Item, class Get>
nanobind::tuple ragged(const std::vector<Item>& items, Get get) {
    Array<int64_t> offsets(items.size() + 1);
    offsets[0] = 0;
    for (size_t r = 0; r < items.size(); ++r)
        offsets[static_cast<Index>(r) + 1] =
            offsets[static_cast<Index>(r)] + static_cast<int64_t>(get(items[r]).size());
    Array<T> values(offsets[static_cast<Index>(items.size())]);
    Index at = 0;
    for (const Item& item : items)
        for (const auto& x : get(item)) values[at++] = static_cast<T>(x);
    return nanobind::make_tuple(std::move(offsets), std::move(values));
}

// One number per item.
template <class T, class Item, class Get>
Array<T> column(const std::vector<Item>& items, Get get) {
    Array<T> out(items.size());
    for (size_t r = 0; r < items.size(); ++r) out[static_cast<Index>(r)] = static_cast<T>(get(items[r]));
    return out;
}

inline void require(bool holds) {
    if (!holds) throw std::invalid_argument("the state of the search is damaged");
}

// The other way. Not by nanobind's conversion to an Eigen vector, which hands memcpy a null pointer where the array is
// empty: undefined, if harmless.
template <class T>
Array<T> array_from(const nanobind::object& values) {
    namespace nb = nanobind;
    const auto from = nb::cast<nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(values);
    Array<T> to(static_cast<Index>(from.shape(0)));
    // From anywhere: bytes of a file need not be aligned.
    if (from.shape(0) > 0) std::memcpy(to.data(), from.data(), from.shape(0) * sizeof(T));
    return to;
}

template <class T>
Array<T> array_from(const nanobind::dict& d, const char* name) {
    require(d.contains(name));
    return array_from<T>(nanobind::object(d[name]));
}

template <class T, class Item, class Get>
void fill_column(const nanobind::dict& d, const char* name, std::vector<Item>& items, Get get) {
    const Array<T> values = array_from<T>(d, name);
    require(values.size() == static_cast<Index>(items.size()));
    for (size_t r = 0; r < items.size(); ++r) {
        auto& to = get(items[r]);
        to = static_cast<std::decay_t<decltype(to)>>(values[static_cast<Index>(r)]);
    }
}

template <class T, class Item, class Get>
void fill_ragged(const nanobind::dict& d, const char* name, std::vector<Item>& items, Get get) {
    require(d.contains(name));
    const auto pair = nanobind::cast<nanobind::tuple>(d[name]);
    const auto offsets = array_from<int64_t>(nanobind::object(pair[0]));
    const auto values = array_from<T>(nanobind::object(pair[1]));
    require(offsets.size() == static_cast<Index>(items.size()) + 1 && offsets[0] == 0);
    require(offsets[offsets.size() - 1] == values.size());
    for (size_t r = 0; r < items.size(); ++r) {
        const Index from = offsets[static_cast<Index>(r)], until = offsets[static_cast<Index>(r) + 1];
        require(until >= from && until <= values.size());
        const Index size = until - from;
        auto& to = get(items[r]);
        to.resize(static_cast<size_t>(size));
        for (Index i = 0; i < size; ++i)
            to[static_cast<size_t>(i)] = static_cast<std::decay_t<decltype(to[0])>>(values[from + i]);
    }
}

}  // namespace parsifal
