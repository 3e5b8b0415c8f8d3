"""HLO passes of the CPU pipeline."""
