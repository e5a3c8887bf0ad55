// What is already decided about each column: 1 in, -1 out, 0 free.
#pragma once

#include <Eigen/Core>

namespace parsifal {

using Index = Eigen::Index;
using Fixes = Eigen::Matrix<signed char, Eigen::Dynamic, 1>;
using ConstFix = Eigen::Ref<const Fixes>;

}  // namespace parsifal
