"""The default classifier, with the weights that ship."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from memgate_core.errors import ConfigurationError
from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.local import LocalClassifier
from memgate_core.model import EvidenceType, HistoryTurn, Role, Statement


@pytest.fixture(scope="module")
def classifier() -> LocalClassifier:
    return LocalClassifier()


def alone(text: str) -> Statement:
    return Statement(text=text, message=text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I might move to Seattle in the spring", EvidenceType.SPECULATION),
        ("we're thinking of getting a narrowboat", EvidenceType.SPECULATION),
        ("I moved to Leeds last Tuesday", EvidenceType.COMPLETED_EVENT),
        ("just finished the roof, finally!", EvidenceType.COMPLETED_EVENT),
        ("no, I meant 1997, that was a typo", EvidenceType.CORRECTION),
        ("how long do you boil a suet dumpling?", EvidenceType.OTHER),
        ("thanks, that's really kind of you", EvidenceType.OTHER),
    ],
)
def test_the_obvious(classifier: LocalClassifier, text: str, expected: EvidenceType) -> None:
    [judgement] = classifier.classify([alone(text)])
    assert judgement.evidence_type is expected
    assert judgement.model_calls == 0


def test_probabilities_are_a_distribution_over_all_classes(classifier: LocalClassifier) -> None:
    [judgement] = classifier.classify([alone("maybe we'll see")])
    assert set(judgement.probabilities) == set(EvidenceType)
    assert sum(judgement.probabilities.values()) == pytest.approx(1.0)
    assert judgement.probabilities[judgement.evidence_type] == max(judgement.probabilities.values())
    assert judgement.cues


def test_a_batch_answers_in_order_as_single_questions_do(classifier: LocalClassifier) -> None:
    texts = ["hi", "I might sell the piano", "we sold the piano yesterday", "hello " * 200]
    batch = classifier.classify([alone(text) for text in texts])
    singles = [classifier.classify([alone(text)])[0] for text in texts]
    assert [j.evidence_type for j in batch] == [j.evidence_type for j in singles]
    assert classifier.classify([]) == []


@pytest.mark.parametrize("text", ["", "   ", "🙂", "\x00", "ok" * 5000, "Я, может быть, перееду"])
def test_odd_text_gets_a_judgement(classifier: LocalClassifier, text: str) -> None:
    [judgement] = classifier.classify([alone(text)])
    assert sum(judgement.probabilities.values()) == pytest.approx(1.0)


def test_history_reaches_a_short_answer(classifier: LocalClassifier) -> None:
    asked = HistoryTurn(role=Role.ASSISTANT, content="So when did you move in?")
    text = "Saturday, at long last"
    [alone_] = classifier.classify([alone(text)])
    [answered] = classifier.classify([Statement(text=text, message=text, history=(asked,))])
    event = EvidenceType.COMPLETED_EVENT
    assert answered.probabilities[event] != alone_.probabilities[event]


def test_threads_share_one_classifier(classifier: LocalClassifier) -> None:
    statements = [alone(f"I might buy {n} goats") for n in range(24)]
    expected = classifier.classify(statements)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda s: classifier.classify([s])[0], statements))
    assert [j.evidence_type for j in found] == [j.evidence_type for j in expected]


def test_incomplete_weights_are_named(tmp_path: object) -> None:
    broken = LocalClassifier(Encoders(folder=tmp_path))  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="is missing"):
        broken.classify([alone("hello")])
