// Groups of columns against the problem that they are in.
#pragma once

#include <stdexcept>

#include "quadratic.hpp"
#include "search/group_squares.hpp"

inline void require_groups(const parsifal::Groups& groups, const HeldQuadratic& q) {
    if (groups.start.back() != q.problem.size())
        throw std::invalid_argument("the groups do not cover the problem's columns");
}

inline parsifal::GroupedQuadratic grouped(const parsifal::Groups& groups, const HeldQuadratic& q) {
    require_groups(groups, q);
    return {q.problem, groups.start, groups.price, groups.k};
}

template <class Vector>
void require_one_a_group(const Vector& vector, const parsifal::Groups& groups, const char* what) {
    if (static_cast<parsifal::Index>(vector.size()) != groups.size())
        throw std::invalid_argument(std::string(what) + " must have one entry a group");
}
