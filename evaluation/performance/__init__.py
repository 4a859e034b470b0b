"""`make bench`: what the gate costs, each ratio taken within one run on one machine."""
