// The factorisations that are asked for now and then, apart from those of every node: half of the time of dense.cpp.
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include "base/dense.hpp"

namespace parsifal {

VectorXd solve_symmetric(const MatrixXd& a, const VectorXd& b) {
    const Eigen::LDLT<MatrixXd> factor(a);
    VectorXd u = factor.solve(b);
    u += factor.solve(VectorXd(b - a * u));
    return u;
}

VectorXd least_squares(const MatrixXd& a, const VectorXd& b) { return a.householderQr().solve(b); }

VectorXd least_squares_dependent(const MatrixXd& a, const VectorXd& b) { return a.colPivHouseholderQr().solve(b); }

Spectrum spectrum(const MatrixXd& a) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(a);
    return {eigen.eigenvalues(), eigen.eigenvectors()};
}

double least_eigenvalue(const MatrixXd& a) {
    return Eigen::SelfAdjointEigenSolver<MatrixXd>(a, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

}  // namespace parsifal
