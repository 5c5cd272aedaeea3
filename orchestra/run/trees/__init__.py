"""Trees of skills at work: an intent router, decomposers, parameter resolvers, executors and a synthesizer.

Each level is a model call only where code cannot decide.
"""
