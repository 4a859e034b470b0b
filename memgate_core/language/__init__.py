"""English words: tokens, forms, closed classes. Knows no other room of the gate."""
