"""The paper's experiments, one file per table or figure.

Bertsimas and Van Parys, "Sparse High-Dimensional Regression: Exact Scalable Algorithms and Phase Transitions".

>>> from parsifal.paper import EXPERIMENTS, Options
>>> results = EXPERIMENTS["figure1"].run(Options())     # doctest: +SKIP
>>> print(EXPERIMENTS["figure1"].table(results))        # doctest: +SKIP
"""

from __future__ import annotations

from types import MappingProxyType

from parsifal.paper import figure1, figure_k, figure_p, figure_snr, nonlinear, table1
from parsifal.paper.experiment import Experiment, Results
from parsifal.paper.options import METHODS, Options

EXPERIMENTS: MappingProxyType[str, Experiment] = MappingProxyType(
    {
        module.EXPERIMENT.name: module.EXPERIMENT
        for module in (table1, figure1, figure_p, figure_k, figure_snr, nonlinear)
    }
)

__all__ = ["EXPERIMENTS", "METHODS", "Experiment", "Options", "Results"]
