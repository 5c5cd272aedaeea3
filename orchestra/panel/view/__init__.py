"""From records to what templates show: pure functions."""
