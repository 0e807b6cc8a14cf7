"""Systems whose published values are predicted before they are known.

Each function gives what the engine makes of one system, from its setup alone; which setup and what
is assumed stands beside the numbers, in `blind_predictions.csv`.
"""
