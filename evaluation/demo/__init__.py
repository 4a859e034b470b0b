"""`make demo`: the same conversations into Mem0 with and without the gate, side by side."""
