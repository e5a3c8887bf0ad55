// The reduced problem as Python holds it: the arrays that it keeps alive, and the problem that refers to them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "bound/held_columns.hpp"
#include "bound/survivors.hpp"

using DoubleVector = nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Matrix = nanobind::ndarray<const T, nanobind::ndim<2>, nanobind::f_contig, nanobind::device::cpu>;

// What local searches and the tree search take.
struct Held {
    virtual ~Held() = default;
    virtual const parsifal::Survivors& survivors() const = 0;
};

struct HeldQuadratic final : Held {
    HeldQuadratic(Matrix<double> gram_, DoubleVector v0_, DoubleVector beta0_, const parsifal::Quadratic& problem_)
        : gram(std::move(gram_)), v0(std::move(v0_)), beta0(std::move(beta0_)), problem(problem_) {}
    const parsifal::Survivors& survivors() const override { return products; }

    Matrix<double> gram;
    DoubleVector v0, beta0;
    parsifal::Quadratic problem;
    parsifal::GramSurvivors products{problem};
};

// What is asked of single columns, as Python gives it.
struct HeldRules {
    std::shared_ptr<const parsifal::ColumnRules> rules;
};

inline std::shared_ptr<const parsifal::ColumnRules> rules_of(const HeldRules* given, parsifal::Index columns) {
    if (!given) return nullptr;
    if (static_cast<parsifal::Index>(given->rules->price.size()) != columns)
        throw std::invalid_argument("rules must have one entry a column");
    return given->rules;
}

// A vector with one entry a column, or an error that names it.
template <class Vector>
void require_columns(const Vector& vector, const Held& held, const char* what) {
    if (static_cast<parsifal::Index>(vector.size()) != held.survivors().size())
        throw std::invalid_argument(std::string(what) + " must have one entry a column");
}
