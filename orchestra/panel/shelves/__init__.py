"""The documents of sessions: received, kept, listed, and taken from folders that the policy allows."""
