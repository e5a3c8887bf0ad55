"""The figure on the dimension: p = 5000, 10000 and 15000."""

from __future__ import annotations

from parsifal.paper.curves import Plan, Setting
from parsifal.paper.family import SQRT_SNR, Family, K, full_plan
from parsifal.paper.options import Options


def vary(options: Options, p: float) -> Setting:
    """p varies; k and the noise are nominal."""
    return Setting(label=f"p = {int(p)}", p=int(p), k=options.k or K, sqrt_snr=SQRT_SNR)


def full(setting: Setting) -> Plan:
    """The paper's repeats."""
    return full_plan("figure-p", range(40, 241, 10))


def quick(setting: Setting) -> Plan:
    """A few minutes."""
    ns = (50, 60, 80, 100, 120, 160, 200)
    return Plan(ns=ns, cv_ns=(100, 160), repeats=2, cv_repeats=1, time_limit=15.0, fold_time_limit=0.2)


EXPERIMENT = Family(
    name="figure-p",
    title="Dimension: p = 5000, 10000, 15000 with k = 10, √SNR = 20",
    symbol="p",
    values=(5000, 10_000, 15_000),
    vary=vary,
    full=full,
    quick=quick,
    false_alarms=True,
).experiment()
run, table, plot = EXPERIMENT.run, EXPERIMENT.table, EXPERIMENT.plot
