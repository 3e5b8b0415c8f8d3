"""VHLO: its ops in each version, and the conversion of their attributes to StableHLO's."""
