"""Watch the shares of a stream of batches: confidence sequences, and alarms with one error rate for all looks."""

from headcount.monitor.batch import Batch
from headcount.monitor.late_labels import LabelledShares
from headcount.monitor.monitor import Monitor
from headcount.monitor.move_sizes import MoveSizes
from headcount.monitor.moves import MoveProcess
from headcount.monitor.result import Alarm, WatchResult
from headcount.monitor.share_scores import ShareScores

__all__ = ["Alarm", "Batch", "LabelledShares", "Monitor", "MoveProcess", "MoveSizes", "ShareScores", "WatchResult"]
