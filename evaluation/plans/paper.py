"""The paper's published figures, for the column beside ours. They are its own, on its own data.

arXiv 2610.07707, tables 2 to 8. Two numbers are a count and an n; one is a percentage where the
paper gives no count. Keys are the cells of our tables: (row, column).
"""

from __future__ import annotations

NAME = "paper"
MARK = "the paper's own figures, on its data and its model (arXiv 2610.07707)"

CONTAMINATION = {
    ("core, while pending", "cautious ungated"): "2.5% [0.4, 12.9] n=40",
    ("core, while pending", "cautious gated"): "0% [0, 8.8] n=40",
    ("core, while pending", "literal ungated"): "87.5% [73.9, 94.5] n=40",
    ("core, while pending", "literal gated"): "0% [0, 8.8] n=40",
    ("core, at end", "cautious ungated"): "2.5% [0.4, 12.9] n=40",
    ("core, at end", "cautious gated"): "0% [0, 8.8] n=40",
    ("core, at end", "literal ungated"): "47.5% [32.9, 62.5] n=40",
    ("core, at end", "literal gated"): "0% [0, 8.8] n=40",
    ("held out, at end", "cautious ungated"): "10.2% [5.5, 18.3] n=88",
    ("held out, at end", "cautious gated"): "5.7% [2.5, 12.6] n=88",
    ("held out, at end", "literal ungated"): "23.9% [16.2, 33.7] n=88",
    ("held out, at end", "literal gated"): "3.4% [1.2, 9.5] n=88",
}
"""Table 2."""

ACCURACY = {
    ("core", "cautious ungated"): "88.3% [77.8, 94.2] n=60",
    ("core", "cautious gated"): "90.0% [79.9, 95.3] n=60",
    ("core", "literal ungated"): "65.0% [52.4, 75.8] n=60",
    ("core", "literal gated"): "95.0% [86.3, 98.3] n=60",
    ("held out", "cautious ungated"): "53.1% [45.0, 60.9] n=147",
    ("held out", "cautious gated"): "62.6% [54.5, 70.0] n=147",
    ("held out", "literal ungated"): "53.7% [45.7, 61.6] n=147",
    ("held out", "literal gated"): "66.7% [58.7, 73.8] n=147",
}
"""Table 3."""

MASKED = "open plans still masked at end, hedge levels"

PLAN_TYPED = {
    ("verbatim", "cautious plan-typed"): "95.0% n=20",
    ("verbatim", "literal plan-typed"): "100% n=20",
    ("verbatim", "cautious gated"): "95.0% n=20",
    ("verbatim", "literal gated"): "100% n=20",
    ("paraphrase", "cautious plan-typed"): "80.0% n=20",
    ("paraphrase", "literal plan-typed"): "95.0% n=20",
    ("paraphrase", "cautious gated"): "80.0% n=20",
    ("paraphrase", "literal gated"): "95.0% n=20",
    ("oblique", "cautious plan-typed"): "75.0% n=20",
    ("oblique", "literal plan-typed"): "100% n=20",
    ("oblique", "cautious gated"): "75.0% n=20",
    ("oblique", "literal gated"): "95.0% n=20",
    ("situational", "cautious plan-typed"): "40.0% n=20",
    ("situational", "literal plan-typed"): "60.0% n=20",
    ("situational", "cautious gated"): "35.0% n=20",
    ("situational", "literal gated"): "65.0% n=20",
    ("all levels, refresh-confirm reading", "cautious plan-typed"): "58 of 80",
    ("all levels, refresh-confirm reading", "literal plan-typed"): "71 of 80",
    ("all levels, strict reading", "cautious plan-typed"): "56.3% n=80",
    ("all levels, strict reading", "literal plan-typed"): "5.0% n=80",
    ("held out, refresh-confirm reading", "cautious plan-typed"): "43.2% n=44",
    ("held out, refresh-confirm reading", "literal plan-typed"): "50.0% n=44",
    ("held out, refresh-confirm reading", "cautious gated"): "47.7% n=44",
    ("held out, refresh-confirm reading", "literal gated"): "59.1% n=44",
    ("held out, strict reading", "cautious plan-typed"): "43.2% n=44",
    ("held out, strict reading", "literal plan-typed"): "38.6% n=44",
    ("at-risk plans current at end, core", "cautious plan-typed"): "0% n=40",
    ("at-risk plans current at end, core", "literal plan-typed"): "1 of 40",
    ("at-risk plans current at end, core", "cautious gated"): "0% n=40",
    ("at-risk plans current at end, core", "literal gated"): "0% n=40",
    ("at-risk plans current at end, hedge levels", "cautious plan-typed"): "0% n=80",
    ("at-risk plans current at end, hedge levels", "literal plan-typed"): "1 of 80",
    ("at-risk plans current at end, hedge levels", "cautious gated"): "0% n=80",
    ("at-risk plans current at end, hedge levels", "literal gated"): "0% n=80",
    ("at-risk plans current at end, held out", "cautious plan-typed"): "4.5% [1.8, 11.1] n=88",
    ("at-risk plans current at end, held out", "literal plan-typed"): "4.5% [1.8, 11.1] n=88",
    ("at-risk plans current at end, held out", "cautious gated"): "5.7% [2.5, 12.6] n=88",
    ("at-risk plans current at end, held out", "literal gated"): "3.4% [1.2, 9.5] n=88",
    (MASKED, "cautious plan-typed"): "20–65% by level",
    (MASKED, "literal plan-typed"): "75–90% by level",
}
"""Table 4 and appendix A.1."""

HELD_OUT = {
    ("contamination at end", "cautious ungated"): "10.2% [5.5, 18.3] n=88",
    ("contamination at end", "cautious gated"): "5.7% [2.5, 12.6] n=88",
    ("contamination at end", "literal ungated"): "23.9% [16.2, 33.7] n=88",
    ("contamination at end", "literal gated"): "3.4% [1.2, 9.5] n=88",
    ("plans staged at the plan turn", "cautious gated"): "33.3% [25.9, 41.7] n=132",
    ("plans staged at the plan turn", "literal gated"): "55.3% [46.8, 63.5] n=132",
    ("came-true plans promoted", "cautious gated"): "22.7% [12.8, 37.0] n=44",
    ("came-true plans promoted", "literal gated"): "38.6% [25.7, 53.4] n=44",
    ("abandoned plans discarded by end", "cautious gated"): "100% [92.0, 100] n=44",
    ("abandoned plans discarded by end", "literal gated"): "90.9% [78.8, 96.4] n=44",
    ("probes answered right", "cautious ungated"): "53.1% [45.0, 60.9] n=147",
    ("probes answered right", "cautious gated"): "62.6% [54.5, 70.0] n=147",
    ("probes answered right", "literal ungated"): "53.7% [45.7, 61.6] n=147",
    ("probes answered right", "literal gated"): "66.7% [58.7, 73.8] n=147",
    ("completed changes committed at once", "cautious ungated"): "73.3% [48.0, 89.1] n=15",
    ("completed changes committed at once", "cautious gated"): "73.3% [48.0, 89.1] n=15",
    ("completed changes committed at once", "literal ungated"): "80.0% [54.8, 93.0] n=15",
    ("completed changes committed at once", "literal gated"): "80.0% [54.8, 93.0] n=15",
    ("completed changes held instead", "cautious gated"): "6.7% n=15",
    ("completed changes held instead", "literal gated"): "6.7% n=15",
}
"""Table 5 and section 6.1."""

HEDGES = {
    ("strong", "cautious ungated"): "0% n=20",
    ("strong", "literal ungated"): "85.0% n=20",
    ("weak", "cautious ungated"): "0% n=20",
    ("weak", "literal ungated"): "75.0% n=20",
    ("confident_undated", "cautious ungated"): "10.0% n=20",
    ("confident_undated", "literal ungated"): "85.0% n=20",
    ("scheduled_dated", "cautious ungated"): "20.0% n=20",
    ("scheduled_dated", "literal ungated"): "90.0% n=20",
    **{
        (level, f"{style} gated"): "0% [0, 16.1] n=20"
        for level in ("strong", "weak", "confident_undated", "scheduled_dated")
        for style in ("cautious", "literal")
    },
}
"""Table 6."""

PROMOTION = {
    ("verbatim", "cautious, all"): "25.0% n=20",
    ("verbatim", "cautious, among staged"): "100% n=5",
    ("verbatim", "literal, all"): "100% n=20",
    ("verbatim", "literal, among staged"): "100% n=20",
    ("paraphrase", "cautious, all"): "30.0% n=20",
    ("paraphrase", "cautious, among staged"): "85.7% n=7",
    ("paraphrase", "literal, all"): "75.0% n=20",
    ("paraphrase", "literal, among staged"): "83.3% n=18",
    ("oblique", "cautious, all"): "25.0% n=20",
    ("oblique", "cautious, among staged"): "100% n=5",
    ("oblique", "literal, all"): "85.0% n=20",
    ("oblique", "literal, among staged"): "85.0% n=20",
    ("situational", "cautious, all"): "15.0% n=20",
    ("situational", "cautious, among staged"): "50.0% n=6",
    ("situational", "literal, all"): "45.0% n=20",
    ("situational", "literal, among staged"): "52.9% n=17",
    ("all levels", "cautious, all"): "23.8% n=80",
    ("all levels", "cautious, among staged"): "82.6% n=23",
}
"""Table 7 and section 6.3."""

CLASSIFIER = {
    ("speculation", "precision"): "92.5% [80.1, 97.4]",
    ("speculation", "recall"): "88.1% [75.0, 94.8]",
    ("completed_event", "precision"): "52.9% [42.5, 63.0]",
    ("completed_event", "recall"): "95.8% [86.0, 98.8]",
    ("correction", "precision"): "66.7% [20.8, 93.9]",
    ("correction", "recall"): "40.0% [11.8, 76.9]",
    ("other", "precision"): "87.9% [72.7, 95.2]",
    ("other", "recall"): "42.6% [31.6, 54.5]",
    ("all", "accuracy"): "69.9% [62.5, 76.5] n=163",
    ("all", "auroc"): "0.93 [0.89, 0.96]",
    ("all", "macro_f1"): "0.665 [0.514, 0.774]",
}
"""Table 8 and section 4."""

CALLS = {
    ("model calls per user message", "literal gated"): "0.8 above the ungated",
    ("model calls per user message", "cautious gated"): "0.4 above the ungated",
}
"""Section 6.1."""

ABLATIONS = {
    ("cautious gated", "plans staged, core"): "31 of 60",
    ("cautious gated names with-retry", "plans staged, core"): "31 of 60",
    ("cautious gated names no-retry", "plans staged, core"): "9 of 60",
    ("literal gated", "plans staged, core"): "55 of 60",
    ("literal gated names no-retry", "plans staged, core"): "55 of 60",
}
"""Section 6.3. The paper's literal pipeline has no retry."""

DIFFERENCES = {
    ("task accuracy, held out", "cautious"): "+9.5 n=147 (18 better, 4 worse)",
    ("task accuracy, held out", "literal"): "+12.9 n=147 (23 better, 4 worse)",
    ("corrections applied", "cautious"): "no difference in 240 runs",
    ("corrections applied", "literal"): "no difference in 240 runs",
}
"""Section 6.1 and appendix A.2."""

_WITHOUT_RETRY = "cautious gated names no-retry minus gated names with-retry"
_GATE_ALONE = "cautious gated names no-retry minus ungated names no-retry"
_RETRY_UNGATED = "cautious ungated names with-retry minus ungated names no-retry"

ABLATION_DIFFERENCES = {
    (_WITHOUT_RETRY, "plans staged"): "−24.0 [−30.7, −17.9], controlled",
    (_WITHOUT_RETRY, "came true, promoted"): "−21.2 [−30.0, −12.5], controlled",
    (_GATE_ALONE, "contamination at end"): "−7.5 [−13.8, −2.5], controlled",
    (_GATE_ALONE, "contamination at end, held out"): "−4.5 [−11.4, +2.3] n=88",
    (_GATE_ALONE, "task accuracy, held out"): "+8.2 [+2.7, +13.6] n=147",
    (_RETRY_UNGATED, "contamination while pending"): "+37.5 [+27.5, +48.7]",
    (_RETRY_UNGATED, "task accuracy"): "−15.1 [−20.7, −9.5]",
    ("cautious gated permissive minus gated", "plans staged"): "11 to 41 of 60, planted probes",
    ("cautious gated permissive minus gated", "contamination at end"): "+5, planted probes",
}
"""Section 6.3, which matches more permissively on a planted suite of 60 confident plans."""

PRODUCTS = {
    ("at-risk plans exposed", "mem0 as released"): "35.2% n=88",
    ("at-risk plans exposed", "graphiti as released"): "27.3% n=88",
    ("probes answered right", "mem0 as released"): "78.9% n=147",
    ("probes answered right", "graphiti as released"): "48.3% n=147",
}
"""Section 1 and appendix A.7."""

QUESTIONS = {
    ("evidence type", "AUROC"): "0.93 [0.89, 0.96] n=163",
    ("is it true now?", "AUROC"): "0.69 n=163",
    ("is it true now?", "evidence type ahead by"): "+0.24 [0.16, 0.31] n=163",
    ("should it be stored?", "AUROC"): "0.62 n=163",
    ("should it be stored?", "evidence type ahead by"): "+0.31 [0.23, 0.39] n=163",
}
"""Section 4 and appendix A.5."""

STABILITY = {
    ("one label in all runs", "value"): "88.3% n=163, five runs",
    ("most frequent label is the first run's", "value"): "95.7% n=163",
    ("deviation of the update score, mean", "value"): "0.050",
    ("deviation of the update score, median", "value"): "0.016",
    ("AUROC over runs, lowest / mean / highest", "value"): "0.933 / 0.944 / 0.950",
}
"""Appendix A.5."""

JUDGE = {
    ("same verdict", "value"): "a model of another family 90.7% n=150;"
    " people 87.0% [75.6, 93.6] n=54",
    ("beyond chance (kappa)", "value"): "people 0.74 n=54",
    ("model the stricter, where they differ", "value"): "against people 5 of 7",
}
"""Section 4: the paper checks its judge against people and another model, not a fixed function."""
