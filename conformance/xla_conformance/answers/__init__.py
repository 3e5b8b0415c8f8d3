"""What a backend says when it is asked: a table of the contract's members that answer and change nothing."""

from xla_conformance.answers.members import ACTIONS, CLASSES, PROMISES, members
from xla_conformance.answers.states import STATES
from xla_conformance.answers.subject import PROGRAM, Subject
from xla_conformance.answers.table import ANSWERS, Answer

__all__ = ["ACTIONS", "ANSWERS", "CLASSES", "PROGRAM", "PROMISES", "STATES", "Answer", "Subject", "members"]
