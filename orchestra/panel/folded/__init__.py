"""What pages show of runs, folded from their records: each event is read once, and the latest runs are held."""
