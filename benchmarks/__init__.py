"""Ways to answer questions over long documents, measured side by side. `python -m benchmarks --help`."""
