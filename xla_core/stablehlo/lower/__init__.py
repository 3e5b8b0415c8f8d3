"""Lowers the op tree to HLO. Only this package and the ops' `lower` functions add HLO instructions."""
