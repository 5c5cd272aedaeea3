"""The panel: a chat on the left, the whole run on the right, as web pages over the store and its events."""
