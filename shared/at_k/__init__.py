"""Numbers to publish from questions that were sampled many times.

The estimates are plain functions of a bank of outcomes; `load` gives them as metrics of
Hugging Face `evaluate`, which judge predictions against references first.
"""

from .estimators import (
    g_pass_at_k,
    g_pass_at_k_ci,
    g_pass_at_k_tau,
    g_pass_at_k_tau_ci,
    mg_pass_at_k,
    mg_pass_at_k_ci,
    pass_at_k,
    pass_at_k_ci,
    pass_hat_k,
    pass_hat_k_ci,
    unanimous_at_k,
    unanimous_at_k_ci,
)
from .loading import load
from .power_mean import score_agg

__all__ = [
    "g_pass_at_k",
    "g_pass_at_k_ci",
    "g_pass_at_k_tau",
    "g_pass_at_k_tau_ci",
    "load",
    "mg_pass_at_k",
    "mg_pass_at_k_ci",
    "pass_at_k",
    "pass_at_k_ci",
    "pass_hat_k",
    "pass_hat_k_ci",
    "score_agg",
    "unanimous_at_k",
    "unanimous_at_k_ci",
]
