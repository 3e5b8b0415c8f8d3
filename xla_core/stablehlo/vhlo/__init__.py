"""What VHLO is: its ops in each version, and how their attributes become StableHLO's.

The readers of text and bytecode and the writers share it.
"""
