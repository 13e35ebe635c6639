"""Actions: what follows when a rule fires."""

from .action import Actions
from .message_action import MessageAction
from .stop_training_action import StopTrainingAction

__all__ = ["Actions", "MessageAction", "StopTrainingAction"]
