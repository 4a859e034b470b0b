"""Training of the local judges: `python -m evaluation.training.train` (issue: local judgement)."""
