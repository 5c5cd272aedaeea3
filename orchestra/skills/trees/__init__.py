"""Composite skills by pure code: which steps, in which order, with which parameters, and what came of them."""
