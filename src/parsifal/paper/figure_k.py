"""The figure on the sparsity: k = 10, 15 and 20."""

from __future__ import annotations

from parsifal.paper.curves import Plan, Setting
from parsifal.paper.family import SQRT_SNR, Family, P, full_plan
from parsifal.paper.options import Options


def vary(options: Options, k: float) -> Setting:
    """k varies; p and the noise are nominal."""
    return Setting(label=f"k = {int(k)}", p=options.p or P, k=int(k), sqrt_snr=SQRT_SNR)


def full(setting: Setting) -> Plan:
    """The paper's repeats; n grows with k, as the transition does."""
    return full_plan("figure-k", range(4 * setting.k, 24 * setting.k + 1, setting.k))


def quick(setting: Setting) -> Plan:
    """A few minutes; n/k from 5 to 20."""
    ns = tuple(setting.k * ratio for ratio in (5, 6, 8, 10, 12, 16, 20))
    return Plan(
        ns=ns, cv_ns=(10 * setting.k, 16 * setting.k), repeats=2, cv_repeats=1, time_limit=15.0, fold_time_limit=0.2
    )


EXPERIMENT = Family(
    name="figure-k",
    title="Sparsity: k = 10, 15, 20 with p = 5000, √SNR = 20",
    symbol="k",
    values=(10, 15, 20),
    vary=vary,
    full=full,
    quick=quick,
    false_alarms=True,
).experiment()
run, table, plot = EXPERIMENT.run, EXPERIMENT.table, EXPERIMENT.plot
