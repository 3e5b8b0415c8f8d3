"""Lowers the op tree to HLO. Only this room and the ops' `lower` functions add HLO instructions."""
