"""The parts of the cutting planes: cuts, planes, the loop, the best choice."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import parsifal as pf
from cuts.cases import constrained, each_backend
from oracles.enumeration import Case
from parsifal import constraints as pc
from parsifal.cuts.loop import cutting_plane
from parsifal.cuts.master import Choices
from parsifal.cuts.oracle import RegressionOracle
from parsifal.cuts.rootcuts import best_choice


def test_a_cut_is_below_the_loss_everywhere_and_touches_it() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((15, 8)), rng.standard_normal(15)
    oracle = RegressionOracle(pf.as_design(X), y, 2.0, np.arange(8))
    for _ in range(20):
        s = rng.random(8) * rng.integers(0, 2, 8)
        value, gradient = oracle.value_and_gradient(s)
        expected = pf.loss(X, y, s, 2.0)
        assert value == pytest.approx(expected.value, rel=1e-10)
        np.testing.assert_allclose(gradient, expected.gradient, rtol=1e-8, atol=1e-12)
        for other in rng.random((20, 8)):
            assert pf.loss(X, y, other, 2.0).value >= value + gradient @ (other - s) - 1e-10


def test_planes_stay_below_the_loss_on_every_support() -> None:
    """Scaling, tightening of coefficients and dropping small ones leave a cut valid on binaries."""
    from parsifal.cuts.planes import Planes

    rng = np.random.default_rng(3)
    for gamma in (1e-6, 1.0, 1e6):
        X, y = rng.standard_normal((12, 9)), rng.standard_normal(12)
        X[:, 0] *= 1e-4
        case = Case(X, y, gamma, 3)
        supports, loss = case.all_values()
        choices = Choices(size=9, k=3, fix=np.zeros(9, np.int8))
        oracle = RegressionOracle(pf.as_design(X), y, gamma, np.arange(9))
        floor = 0.999 * float(loss.min())
        planes = Planes(oracle, choices, penalty=0.0, floor=floor, tolerance=1e-9, report=None)
        planes.scale = float(loss.min()) / 100
        cuts = [planes.cut(np.array(support, dtype=np.int64)) for support in supports]
        cuts += [planes.cut_at(s)[1] for s in rng.random((10, 9))]
        indicator = np.array([[float(j in s) for j in range(9)] for s in supports])
        for number, cut in enumerate(cuts):
            below = cut.constant + indicator @ cut.slope
            assert np.all(below <= loss / planes.scale * (1 + 1e-9))
            assert np.abs(cut.slope).max() <= abs(cut.constant) + 1e-9
            if number < len(supports):
                assert below[number] == pytest.approx(loss[number] / planes.scale, rel=1e-8)


@each_backend
def test_the_loop_takes_any_loss(backend: str) -> None:
    """The kernel loss 1/2 y'(I + gamma sum s_j K_j)^-1 y, with its own gradient."""
    rng = np.random.default_rng(2)
    n, m, gamma = 12, 7, 0.7
    Z = rng.standard_normal((m, n, 2))
    y = rng.standard_normal(n)

    class Kernels:
        size = m

        def value_and_gradient(self, s: np.ndarray) -> tuple[float, np.ndarray]:
            K = np.einsum("j,jab,jcb->ac", s, Z, Z)
            alpha = np.linalg.solve(np.eye(n) + gamma * K, y)
            gradient = -0.5 * gamma * np.sum(np.einsum("jab,a->jb", Z, alpha) ** 2, axis=1)
            return 0.5 * float(y @ alpha), gradient

    best = min(
        Kernels().value_and_gradient(np.isin(np.arange(m), s).astype(float))[0] for s in combinations(range(m), 3)
    )
    for cuts in (0, 20):
        result = cutting_plane(Kernels(), 3, backend=backend, most_root_cuts=cuts)
        assert result.status == "optimal"
        assert result.objective == pytest.approx(best, rel=1e-9)
        assert result.lower_bound <= best * (1 + 1e-12)
        assert result.cuts >= 1


def test_best_choice_is_the_best() -> None:
    rng = np.random.default_rng(0)
    for seed in range(30):
        case, constraints, allowed = constrained(seed)
        weight = rng.standard_normal(case.p)
        rows = pc.make_rows(constraints, pf.as_design(case.X))
        for kept, supports in ((rows, allowed), ([], case.supports())):
            if not supports:
                continue
            choices = Choices(size=case.p, k=case.most, fix=np.zeros(case.p, np.int8), rows=kept)
            found = best_choice(choices, weight)
            assert choices.allows(found)
            best = max(sum(weight[j] for j in s) for s in supports)
            assert weight[found].sum() == pytest.approx(best, abs=1e-9)
