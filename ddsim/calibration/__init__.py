"""From logs to a scenario: what they say with intervals, and whether that predicts the rest.

`calibrate` reads logs and estimates; its `text` is the scenario. `hold_out` fits the first part of
a run log and predicts the second.
"""

from ddsim.calibration.calibrating import Calibration, calibrate, crowded
from ddsim.calibration.holdout import Holdout, Prediction, hold_out

__all__ = ["Calibration", "Holdout", "Prediction", "calibrate", "crowded", "hold_out"]
