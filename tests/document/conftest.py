from __future__ import annotations

from hypothesis import settings

# what is loaded at first use, and a busy machine, would make a time limit per example flaky
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
