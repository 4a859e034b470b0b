"""A soak: mixed traffic from several processes, with faults, and invariants checked throughout."""
