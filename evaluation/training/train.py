"""`python -m evaluation.training.train`: trains the local judges, measures and writes them.

Runs on two idle cores in about four hours, three of them the claims encoder's. Seeds are fixed; the
card beside the weights says on which data files (by hash), with which settings and to which
figures.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from evaluation.training.calibrate import Calibrated, calibrate
from evaluation.training.chats import unlabelled
from evaluation.training.courses import (
    SOURCE_WEIGHTS,
    Part,
    claim_course,
    gather,
    statement_course,
    taught_statements,
)
from evaluation.training.export import write_encoder, write_words
from evaluation.training.figures import evidence_figures, softmax
from evaluation.training.fit import Course, Settings, logits_of, train
from evaluation.training.glance import (
    Soft,
    glance_logits,
    train_glance,
    write_glance,
)
from evaluation.training.network import Judge, pretrained
from evaluation.training.source import DATA, digest_of
from evaluation.training.statements import Labelled, from_jsonl
from evaluation.training.thresholds import choose
from memgate_core.judgement.encoder import WEIGHTS, Encoders
from memgate_core.judgement.inputs import Budget, Encoded, Layout
from memgate_core.judgement.verdicts import EVIDENCE_ORDER

ALONE = Budget(around=0, before=0, earlier=0)
_RAISED = (0.5, 0.2, 0.0, 0.0)
"""Added to the logits of the four classes: nine in ten sentences of the labelled chats are `other`,
which is more than among friends or before an assistant; and an overlooked plan costs more than a
held fact."""
_LEARNS_FROM = {
    "statements": ("statements", "chats", "plans", "plan_labels"),
    "glance": ("statements", "chats", "plans", "plan_labels"),
    "claims": ("resolutions", "admission", "plans", "plan_labels"),
}
_EPOCHS = {"statements": 3.0}
_ROUNDS = ((1.75, 1e-4, 7), (1.25, 8e-5, 11), (0.75, 8e-5, 21), (0.9, 8e-5, 31))
"""Epochs, rate and seed of each round of the claims encoder. Each goes on from the one before, and
its rate rises and falls again (docs/decisions/0003-local-judgement.md says what each brought)."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Trains what is asked for and writes it into the weights folder."""
    options = _options(arguments)
    torch.set_num_threads(options.threads)
    layout = _layout()
    files = {name: _digests(kinds) for name, kinds in _LEARNS_FROM.items()}
    training, test = gather()
    card = _card(options.out)
    shutil.copyfile(pretrained() / "tokenizer.json", options.out / "tokenizer.json")
    parts = {
        "statements": lambda: _statements(options, training, test, layout),
        "glance": lambda: _glance(options, training, test, layout, card),
        "claims": lambda: _claims(options, training, test, layout),
    }
    for name, teach in parts.items():
        if name in options.only:
            card[name] = {**teach(), "data": files[name]}
            _write_card(options.out, card)  # at once: the next part takes an hour


def _statements(
    options: argparse.Namespace, training: Part, test: Part, layout: Layout
) -> dict[str, Any]:
    budget = Budget(*options.budget)
    settings = Settings(
        options.layers,
        options.frozen,
        options.epochs or _EPOCHS["statements"],
        options.batch,
        options.rate,
        seed=options.seed,
    )
    checks = {"test": _natural(test.statements), **_checks(options.check)}
    rows = {
        name: [layout.statement(item.statement, budget) for item in items]
        for name, items in checks.items()
    }

    def watch(model: Judge, _: float) -> None:
        for name, items in checks.items():
            probabilities = softmax(logits_of(model, "statement", rows[name]))
            print(name, _rounded(evidence_figures(probabilities, _truth(items))), flush=True)

    start = _started(options.start, settings, ("statement",))
    model = train(statement_course(training, layout, budget), settings, watch, start)
    size = write_encoder(model, options.out / "statements.onnx")
    write_words(model, options.out / "words.npz")
    torch.save(model.state_dict(), options.keep / "statements.pt")
    fitted = _raised(_calibrated(logits_of(model, "statement", rows["test"]), checks["test"]))
    return {
        "settings": asdict(settings),
        "budget": asdict(budget),
        "bytes": size,
        "calibration": asdict(fitted),
        "figures": {
            name: _figures(model, rows[name], items, fitted) for name, items in checks.items()
        },
    }


def _glance(
    options: argparse.Namespace,
    training: Part,
    test: Part,
    layout: Layout,
    card: dict[str, Any],
) -> dict[str, Any]:
    """Needs the statement encoder in the output folder: it labels what nobody labelled. Then the
    two together label it again, and the glance is taught once more."""
    budget = Budget(**card["statements"]["budget"])
    chatter = unlabelled(options.chatter, options.seed)
    rows = [layout.statement(statement, ALONE) for statement in chatter]
    asked = [layout.statement(statement, budget) for statement in chatter]
    read = Encoders(options.out).run("statements", asked, ["statement"])["statement"]
    known = _labelled_rows(training, layout)
    model = train_glance([*known, *_taught(rows, read)], options.glances, options.seed)
    both = (read + glance_logits(model, rows)) / 2
    model = train_glance([*known, *_taught(rows, both)], options.glances, options.seed + 1)
    size = write_glance(model, options.out / "glance.onnx")
    checks = {"test": _natural(test.statements), **_checks(options.check)}
    logits = {
        name: glance_logits(model, [layout.statement(item.statement, ALONE) for item in items])
        for name, items in checks.items()
    }
    fitted = _calibrated(logits["test"], checks["test"])
    return {
        "bytes": size,
        "unlabelled": len(chatter),
        "calibration": asdict(fitted),
        "sure": options.sure,
        "figures": {
            name: _rounded(evidence_figures(softmax(fitted.apply(logits[name])), _truth(items)))
            for name, items in checks.items()
        },
    }


def _calibrated(logits: NDArray[np.floating], items: Sequence[Labelled]) -> Calibrated:
    """Fitted on real chats alone: on our own conversations the models are surer than elsewhere."""
    real = [at for at, item in enumerate(items) if item.source == "chat"]
    return calibrate(logits[real], _truth([items[at] for at in real]))


def _raised(fitted: Calibrated) -> Calibrated:
    """Plans and events raised over the share that they have in the small talk of strangers."""
    shifts = [shift + more for shift, more in zip(fitted.shifts, _RAISED, strict=True)]
    return replace(fitted, shifts=shifts)


def _labelled_rows(training: Part, layout: Layout) -> list[Soft]:
    """The statements that the encoder is taught, a little softened, weighted by their source."""
    samples: list[Soft] = []
    taught = taught_statements(training)
    for item, target in zip(taught, _truth(taught), strict=True):
        soft = np.full(4, 0.02, np.float32) + 0.92 * np.eye(4, dtype=np.float32)[target]
        row = layout.statement(item.statement, ALONE)
        samples.append((row, soft, SOURCE_WEIGHTS[item.source]))
    return samples


def _taught(rows: Sequence[Encoded], logits: NDArray[np.floating]) -> list[Soft]:
    """Unlabelled rows with what a model says of them."""
    return [(row, p.astype(np.float32), 0.7) for row, p in zip(rows, softmax(logits), strict=True)]


def _figures(
    model: Judge, rows: Sequence[Any], items: Sequence[Labelled], fitted: Calibrated
) -> dict[str, float]:
    logits = logits_of(model, "statement", rows)
    return _rounded(evidence_figures(softmax(fitted.apply(logits)), _truth(items)))


def _claims(
    options: argparse.Namespace, training: Part, test: Part, layout: Layout
) -> dict[str, Any]:
    rounds = _rounds(options)
    course, checks = (claim_course(part, layout, options.seed) for part in (training, test))

    def watch(model: Judge, _: float) -> None:
        torch.save(model.state_dict(), options.keep / "claims.pt")
        print(_rounded(_accuracies(model, checks)), flush=True)

    learned = options.keep / "statements.pt"  # its body knows the statements already
    beginning = options.start or (learned if learned.is_file() else None)
    model = _started(beginning, rounds[0], tuple(course.samples))
    for settings in rounds:
        model = train(course, settings, watch, model)
        watch(model, settings.epochs)
    if model is None:
        raise ValueError("no round of the claims encoder is to be run")
    size = write_encoder(model, options.out / "claims.onnx")
    if not (options.out / "words.npz").exists():
        write_words(model, options.out / "words.npz")
    calibration = {}
    for head, samples in checks.samples.items():
        logits = logits_of(model, head, [s.row for s in samples])
        calibration[head] = asdict(calibrate(logits, [s.target for s in samples]))
    return {
        "rounds": [asdict(settings) for settings in rounds],
        "bytes": size,
        "calibration": calibration,
        "thresholds": choose(
            model, checks, {head: found["temperature"] for head, found in calibration.items()}
        ),
        "figures": _rounded(_accuracies(model, checks)),
    }


def _rounds(options: argparse.Namespace) -> list[Settings]:
    """The claims encoder's rounds; one only where the command line says how long."""
    plain = Settings(options.layers, options.frozen, batch=options.batch)
    asked = ((options.epochs, options.rate, options.seed),) if options.epochs else _ROUNDS
    return [replace(plain, epochs=e, rate=rate, seed=seed) for e, rate, seed in asked]


def _started(path: Path | None, settings: Settings, heads: tuple[str, ...]) -> Judge | None:
    """The body (and the heads of the same name) of an earlier checkpoint, if one is given."""
    if path is None:
        return None
    model = Judge(settings.layers, heads, settings.frozen)
    stored = torch.load(path)
    known = model.state_dict()
    model.load_state_dict({**known, **{k: v for k, v in stored.items() if k in known}})
    return model


def _accuracies(model: Judge, checks: Course) -> dict[str, float]:
    found = {}
    for head, samples in checks.samples.items():
        said = logits_of(model, head, [s.row for s in samples]).argmax(axis=1)
        right = sum(int(a) == s.target for a, s in zip(said, samples, strict=True))
        found[f"{head}_accuracy"] = right / max(1, len(samples))
        found[f"{head}_n"] = float(len(samples))
    return found


def _natural(items: Sequence[Labelled]) -> list[Labelled]:
    return [item for item in items if item.source in ("natural", "chat")]


def _checks(paths: Sequence[Path]) -> dict[str, list[Labelled]]:
    """Labelled files that are only looked at: never trained on, never calibrated on."""
    return {path.stem: list(from_jsonl(path, "check")) for path in paths}


def _truth(items: Sequence[Labelled]) -> list[int]:
    return [EVIDENCE_ORDER.index(item.label) for item in items]


def _layout() -> Layout:
    from tokenizers import Tokenizer

    return Layout(Tokenizer.from_file(str(pretrained() / "tokenizer.json")))


def _digests(kinds: Sequence[str]) -> dict[str, str]:
    files = sorted(p for kind in kinds for p in (DATA / kind).glob("*.*") if p.is_file())
    return {str(path.relative_to(DATA)): digest_of(path) for path in files}


def _card(folder: Path) -> dict[str, Any]:
    path = folder / "card.json"
    card: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return card


def _write_card(folder: Path, card: dict[str, Any]) -> None:
    (folder / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in figures.items()}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m evaluation.training.train", description=__doc__)
    parser.add_argument("--only", nargs="+", default=["statements", "glance", "claims"])
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--keep", type=Path, default=Path("reports"), help="torch checkpoints")
    parser.add_argument("--start", type=Path, help="checkpoint to go on from")
    parser.add_argument("--check", type=Path, nargs="*", default=[], help="labelled JSONL to watch")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--frozen", type=int, default=2, help="lowest layers left as they are")
    parser.add_argument("--budget", type=int, nargs=4, default=[8, 14, 0, 32])
    parser.add_argument("--epochs", type=float, help=f"default: {_EPOCHS}, claims in rounds")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--chatter", type=int, default=12000, help="unlabelled statements")
    parser.add_argument("--glances", type=int, default=6, help="epochs of the glance")
    parser.add_argument("--sure", type=float, default=0.93, help="where the glance is believed")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    options.keep.mkdir(parents=True, exist_ok=True)
    return options


if __name__ == "__main__":
    main()
