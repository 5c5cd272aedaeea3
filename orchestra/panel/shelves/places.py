"""Where the panel keeps what is uploaded."""

from __future__ import annotations

from pathlib import Path

from orchestra.store import Store


def panel_folder(store: Store) -> Path:
    """`panel` beside a store that is a file, else in the user's own state folder."""
    location = store.database.location
    if location.is_sqlite and location.url.database:
        return Path(location.url.database).absolute().parent / "panel"
    from platformdirs import user_state_path

    return user_state_path("orchestra", appauthor=False) / "panel"
