"""Parts of `benchmarks/all.py`: settings, running, results, changes, page, chart."""
