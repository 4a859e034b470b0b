"""The ways to a language model, one file a kind. None of them imports a framework."""
