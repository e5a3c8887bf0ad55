"""The figure on the noise: sqrt(SNR) = 3, 7 and 20."""

from __future__ import annotations

from parsifal.paper.curves import Plan, Setting
from parsifal.paper.family import Family, K, P, full_plan
from parsifal.paper.options import Options


def vary(options: Options, sqrt_snr: float) -> Setting:
    """The noise varies; p and k are nominal."""
    return Setting(label=f"√SNR = {sqrt_snr:g}", p=options.p or P, k=options.k or K, sqrt_snr=float(sqrt_snr))


def full(setting: Setting) -> Plan:
    """The paper's repeats."""
    return full_plan("figure-snr", range(40, 401, 20))


def quick(setting: Setting) -> Plan:
    """A few minutes."""
    return Plan(ns=(60, 80, 100, 140, 180, 240, 320), cv_ns=(), repeats=2, cv_repeats=0, time_limit=15.0)


EXPERIMENT = Family(
    name="figure-snr",
    title="Noise: √SNR = 3, 7, 20 with p = 5000, k = 10",
    symbol="sqrt(SNR)",
    values=(3, 7, 20),
    vary=vary,
    full=full,
    quick=quick,
    false_alarms=False,
).experiment()
run, table, plot = EXPERIMENT.run, EXPERIMENT.table, EXPERIMENT.plot
