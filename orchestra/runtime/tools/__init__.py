"""Tools: what a model may call while it works, from their schema to the text of their results."""
