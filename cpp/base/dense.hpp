// Factorisations and products of dense matrices. Eigen's templates for them take most of the time that a build takes:
// they are instantiated in dense.cpp, once, and asked for by name.
#pragma once

#include <Eigen/Core>

#include "base/alarm.hpp"

namespace parsifal {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using ConstMatrix = Eigen::Ref<const MatrixXd>;
using ConstVector = Eigen::Ref<const VectorXd>;

// Replaces the lower triangle of a by its factor L, a = L L'. False if a is not positive definite.
bool cholesky(MatrixXd& a);
bool cholesky(Eigen::Map<MatrixXd> a);
// Of systems that are larger block by block, so that the alarm is heard; false too if it rings.
constexpr Index large_system = 1000;  // below, a factor is there in some tens of milliseconds
bool cholesky(MatrixXd& a, const Alarm& alarm);

// b := (L L')^-1 b for a factor in a lower triangle, and b := L^-1 b.
void solve_cholesky(const ConstMatrix& factor, VectorXd& b);
void solve_cholesky(const ConstMatrix& factor, MatrixXd& b);
void solve_lower(const ConstMatrix& factor, Eigen::Ref<MatrixXd> b);

// The solution of a u = b for a symmetric matrix, with one step of refinement.
VectorXd solve_symmetric(const MatrixXd& a, const VectorXd& b);

// The least-squares solution by QR, and the one of a matrix that may have dependent columns.
VectorXd least_squares(const MatrixXd& a, const VectorXd& b);
VectorXd least_squares_dependent(const MatrixXd& a, const VectorXd& b);

// Of a symmetric matrix; in ascending order, an eigenvector a column.
struct Spectrum {
    VectorXd values;
    MatrixXd vectors;
};
Spectrum spectrum(const MatrixXd& a);
double least_eigenvalue(const MatrixXd& a);

// c = a b; c = a'b; the lower triangle of c -= a'a.
void multiply(const ConstMatrix& a, const ConstMatrix& b, Eigen::Ref<MatrixXd> c);
void multiply_transposed(const ConstMatrix& a, const ConstMatrix& b, Eigen::Ref<MatrixXd> c);
void subtract_square(const ConstMatrix& a, MatrixXd& c);

}  // namespace parsifal
