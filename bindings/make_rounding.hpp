// Rounding as Python hands it over: the norms, and (unit, error, base, drift, reach).
#pragma once

#include <array>

#include "rounding.hpp"

inline parsifal::Rounding make_rounding(const Eigen::Ref<const Eigen::VectorXd>& norm,
                                        const std::array<double, 5>& values) {
    const auto& [unit, error, base, drift, reach] = values;
    return {norm, unit, error, base, drift, reach};
}
