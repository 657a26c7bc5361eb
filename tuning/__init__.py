"""Tuning: the papers' grids and wider ones as KerasTuner searches, a training run a trial."""
