"""Text to outline, pointers to lines, lines to slices. Pure: no network, clock or randomness."""
